// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Ops that move elements.

// Dimensions in front of the others are added by Expand itself.

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[ARG0:.*]]: tensor<8xf32>, %[[ARG1:.*]]: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[4, 8]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Expand"(%[[ARG0]], %[[CST]]) {} opset 23 : (tensor<8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST_0]]) {allowzero = 1 : i64} opset 23 : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x1xf32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<[4, 8]> : tensor<2xi64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Expand"(%[[V1]], %[[CST_1]]) {} opset 23 : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[V0]], %[[V2]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
func.func @broadcast(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32>
  %1 = "stablehlo.broadcast_in_dim"(%y) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A dimension of one element moves without a transpose.

// CHECK-LABEL: func.func @transpose_view
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x1x8xf32>) -> tensor<1x4x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[1, 4, 8]> : tensor<3xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG0]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1x8xf32>, tensor<3xi64>) -> tensor<1x4x8xf32>
// CHECK-NEXT: return %[[V0]] : tensor<1x4x8xf32>
// CHECK-NEXT: }
func.func @transpose_view(%x: tensor<4x1x8xf32>) -> tensor<1x4x8xf32> {
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0, 2>}> : (tensor<4x1x8xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// Zeros between elements, then the edges; a negative edge cuts off.

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[ARG0:.*]]: tensor<5xf32>) -> tensor<10xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "SliceGrad"(%[[ARG0]]) {axes = array<i64: 0>, shape = array<i64: 9>, starts = array<i64: 0>, steps = array<i64: 2>} domain "zero" opset 1 : (tensor<5xf32>) -> tensor<9xf32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<[2, -1]> : tensor<2xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Pad"(%[[V0]], %[[CST_0]], %[[CST]]) {} opset 23 : (tensor<9xf32>, tensor<2xi64>, tensor<f32>) -> tensor<10xf32>
// CHECK-NEXT: return %[[V1]] : tensor<10xf32>
// CHECK-NEXT: }
func.func @pad(%x: tensor<5xf32>) -> tensor<10xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.pad"(%x, %zero) <{edge_padding_low = array<i64: 2>, edge_padding_high = array<i64: -1>, interior_padding = array<i64: 1>}> : (tensor<5xf32>, tensor<f32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// CHECK-LABEL: func.func @reverse
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<-1> : tensor<2xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<-9223372036854775808> : tensor<2xi64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<[0, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<-1> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST]], %[[CST_0]], %[[CST_1]], %[[CST_2]]) {} opset 23 : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
func.func @reverse(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A step may be larger than the dimension: associative_scan takes one element so.

// CHECK-LABEL: func.func @long_step
// CHECK: onnx.node "Slice"(%arg0, {{.*}}) {} opset 23 : {{.*}} -> tensor<1x4xf32>
func.func @long_step(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 4>, strides = array<i64: 2, 1>}> : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
