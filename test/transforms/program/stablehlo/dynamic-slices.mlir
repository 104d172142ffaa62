// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// The index of a slice is clamped so that the slice is within the tensor.

// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>, %[[ARG1:.*]]: tensor<i32>, %[[ARG2:.*]]: tensor<i32>) -> tensor<2x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Clip"(%[[ARG1]], %[[CST]], %[[CST_0]]) {} opset 23 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]) {to = 7 : i64} opset 23 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Add"(%[[V1]], %[[CST_1]]) {} opset 23 : (tensor<i64>, tensor<2xi64>) -> tensor<2xi64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Gather"(%[[ARG0]], %[[V2]]) {axis = 0 : i64} opset 23 : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
// CHECK-NEXT: return %[[V3]] : tensor<2x8xf32>
// CHECK-NEXT: }
func.func @slice(%x: tensor<4x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x8xf32> {
  %0 = "stablehlo.dynamic_slice"(%x, %i, %j) <{slice_sizes = array<i64: 2, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @update
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>, %[[ARG1:.*]]: tensor<1x8xf32>, %[[ARG2:.*]]: tensor<i32>, %[[ARG3:.*]]: tensor<i32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<3> : tensor<i32>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Clip"(%[[ARG2]], %[[CST]], %[[CST_0]]) {} opset 23 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]) {to = 7 : i64} opset 23 : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Sub"(%[[CST_1]], %[[V1]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "GreaterOrEqual"(%[[V2]], %[[CST_2]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<1> : tensor<i64>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Less"(%[[V2]], %[[CST_3]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "And"(%[[V3]], %[[V4]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Reshape"(%[[V5]], %[[CST_4]]) {allowzero = 1 : i64} opset 23 : (tensor<4xi1>, tensor<2xi64>) -> tensor<4x1xi1>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Where"(%[[V6]], %[[ARG1]], %[[ARG0]]) {} opset 23 : (tensor<4x1xi1>, tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[V7]] : tensor<4x8xf32>
// CHECK-NEXT: }
func.func @update(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.dynamic_update_slice"(%x, %y, %i, %j) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
