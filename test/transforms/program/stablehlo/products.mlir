// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// A dot_general is a MatMul; an operand whose last two groups of dimensions are swapped is
// transposed, which a later pass folds into the product.

// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x3x8xf32>, %[[ARG1:.*]]: tensor<8x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "MatMul"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x3x4xf32>
// CHECK-NEXT: }
func.func @linear(%x: tensor<2x3x8xf32>, %w: tensor<8x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// The gradient of the weights: the transpose of the result swaps the operands.

// CHECK-LABEL: func.func @weight_gradient
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x3x4xf32>, %[[ARG1:.*]]: tensor<2x3x8xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[6, 8]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<2x3x8xf32>, tensor<2xi64>) -> tensor<6x8xf32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<[6, 4]> : tensor<2xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Reshape"(%[[ARG0]], %[[CST_0]]) {allowzero = 1 : i64} opset 23 : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Transpose"(%[[V0]]) {perm = array<i64: 1, 0>} opset 23 : (tensor<6x8xf32>) -> tensor<8x6xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "MatMul"(%[[V2]], %[[V1]]) {} opset 23 : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[V3]] : tensor<8x4xf32>
// CHECK-NEXT: }
func.func @weight_gradient(%dy: tensor<2x3x4xf32>, %x: tensor<2x3x8xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.dot_general"(%dy, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<2x3x4xf32>, tensor<2x3x8xf32>) -> tensor<4x8xf32>
  %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @scores
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x4x3x8xf32>, %[[ARG1:.*]]: tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Transpose"(%[[ARG1]]) {perm = array<i64: 0, 1, 3, 2>} opset 23 : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "MatMul"(%[[ARG0]], %[[V0]]) {} opset 23 : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x4x3x5xf32>
// CHECK-NEXT: }
func.func @scores(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32> {
  %0 = "stablehlo.dot_general"(%q, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>}> : (tensor<2x4x3x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x5xf32>
  return %0 : tensor<2x4x3x5xf32>
}

// Products of 16-bit floats with a wider result.

// CHECK-LABEL: func.func @wide
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x8xbf16>, %[[ARG1:.*]]: tensor<8x4xbf16>) -> tensor<2x4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Cast"(%[[ARG0]]) {to = 1 : i64} opset 23 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[ARG1]]) {to = 1 : i64} opset 23 : (tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "MatMul"(%[[V0]], %[[V1]]) {} opset 23 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<2x4xf32>
// CHECK-NEXT: }
func.func @wide(%x: tensor<2x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<2x4xf32> {
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
