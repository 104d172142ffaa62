// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Slices that an unrolled scan writes are read back as they are, and the whole tensor is one Concat.

// CHECK-LABEL: func.func @scan
// CHECK-SAME: (%[[ARG0:.*]]: tensor<1x8xf32>, %[[ARG1:.*]]: tensor<1x8xf32>) -> (tensor<2x8xf32>, tensor<1x8xf32>) {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Concat"(%[[ARG0]], %[[ARG1]]) {axis = 0 : i64} opset 23 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: return %[[V0]], %[[ARG0]] : tensor<2x8xf32>, tensor<1x8xf32>
// CHECK-NEXT: }
func.func @scan(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>) -> (tensor<2x8xf32>, tensor<1x8xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %start = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8xf32>
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.dynamic_update_slice"(%start, %a, %c0, %c0) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  %1 = "stablehlo.dynamic_update_slice"(%0, %b, %c1, %c0) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  %2 = "stablehlo.dynamic_slice"(%1, %c0, %c0) <{slice_sizes = array<i64: 1, 8>}> : (tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %1, %2 : tensor<2x8xf32>, tensor<1x8xf32>
}

// What was not written is a slice of the tensor below.

// CHECK-LABEL: func.func @one_write
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>, %[[ARG1:.*]]: tensor<1x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST]], %[[CST_0]], %[[CST_1]], %[[CST_2]]) {} opset 23 : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8xf32>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<2> : tensor<1xi64>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_6:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST_3]], %[[CST_4]], %[[CST_5]], %[[CST_6]]) {} opset 23 : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Concat"(%[[V0]], %[[ARG1]], %[[V1]]) {axis = 0 : i64} opset 23 : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[V2]] : tensor<4x8xf32>
// CHECK-NEXT: }
func.func @one_write(%x: tensor<4x8xf32>, %a: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.dynamic_update_slice"(%x, %a, %c1, %c0) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
