// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// JAX writes a convolution and its gradients as one op; each has the node with its loops.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x8x9x3xf32>, %[[ARG1:.*]]: tensor<3x3x3x4xf32>) -> tensor<2x4x5x4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Transpose"(%[[ARG0]]) {perm = array<i64: 0, 3, 1, 2>} opset 23 : (tensor<2x8x9x3xf32>) -> tensor<2x3x8x9xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Transpose"(%[[ARG1]]) {perm = array<i64: 3, 2, 0, 1>} opset 23 : (tensor<3x3x3x4xf32>) -> tensor<4x3x3x3xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Conv"(%[[V0]], %[[V1]]) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 0, 1, 1, 1>, strides = array<i64: 2, 2>} opset 23 : (tensor<2x3x8x9xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x5xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Transpose"(%[[V2]]) {perm = array<i64: 0, 2, 3, 1>} opset 23 : (tensor<2x4x4x5xf32>) -> tensor<2x4x5x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<2x4x5x4xf32>
// CHECK-NEXT: }
func.func @forward(%x: tensor<2x8x9x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x4x5x4xf32> {
  %0 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x9x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x5x4xf32>
  return %0 : tensor<2x4x5x4xf32>
}

// Elements of the left operand apart: the gradient of the input, whose kernel need not be reversed.

// CHECK-LABEL: func.func @input_gradient
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x4x3x3xf32>, %[[ARG1:.*]]: tensor<4x2x3x3xf32>) -> tensor<2x2x7x7xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ConvGradX"(%[[ARG0]], %[[ARG1]]) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} domain "zero" opset 1 : (tensor<2x4x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<2x2x7x7xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x2x7x7xf32>
// CHECK-NEXT: }
func.func @input_gradient(%dy: tensor<2x4x3x3xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<2x2x7x7xf32> {
  %0 = "stablehlo.reverse"(%w) <{dimensions = array<i64: 2, 3>}> : (tensor<4x2x3x3xf32>) -> tensor<4x2x3x3xf32>
  %1 = "stablehlo.convolution"(%dy, %0) <{dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]>, padding = dense<2> : tensor<2x2xi64>, lhs_dilation = array<i64: 2, 2>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x4x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<2x2x7x7xf32>
  return %1 : tensor<2x2x7x7xf32>
}

// A kernel that is larger than the result: the gradient of the kernel.

// CHECK-LABEL: func.func @kernel_gradient
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x3x9x9xf32>, %[[ARG1:.*]]: tensor<2x4x4x4xf32>) -> tensor<3x4x3x3xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ConvGradW"(%[[ARG1]], %[[ARG0]]) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} domain "zero" opset 1 : (tensor<2x4x4x4xf32>, tensor<2x3x9x9xf32>) -> tensor<4x3x3x3xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Transpose"(%[[V0]]) {perm = array<i64: 1, 0, 2, 3>} opset 23 : (tensor<4x3x3x3xf32>) -> tensor<3x4x3x3xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x4x3x3xf32>
// CHECK-NEXT: }
func.func @kernel_gradient(%x: tensor<2x3x9x9xf32>, %w: tensor<2x4x4x4xf32>) -> tensor<3x4x3x3xf32> {
  %0 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<[f, b, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]>, rhs_dilation = array<i64: 2, 2>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<2x3x9x9xf32>, tensor<2x4x4x4xf32>) -> tensor<3x4x3x3xf32>
  return %0 : tensor<3x4x3x3xf32>
}

// Groups of the batch: the gradient of a kernel of groups.

// CHECK-LABEL: func.func @kernel_gradient_of_groups
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x6x7x7xf32>, %[[ARG1:.*]]: tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ConvGradW"(%[[ARG1]], %[[ARG0]]) {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} domain "zero" opset 1 : (tensor<2x4x5x5xf32>, tensor<2x6x7x7xf32>) -> tensor<4x3x3x3xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Transpose"(%[[V0]]) {perm = array<i64: 1, 0, 2, 3>} opset 23 : (tensor<4x3x3x3xf32>) -> tensor<3x4x3x3xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x4x3x3xf32>
// CHECK-NEXT: }
func.func @kernel_gradient_of_groups(%x: tensor<2x6x7x7xf32>, %w: tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32> {
  %0 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<[f, b, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64}> : (tensor<2x6x7x7xf32>, tensor<2x4x5x5xf32>) -> tensor<3x4x3x3xf32>
  return %0 : tensor<3x4x3x3xf32>
}
