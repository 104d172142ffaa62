// Constants are folded.
// RUN: zero-opt %s --split-input-file --canonicalize | FileCheck %s

// A comment above stays.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<2.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[V0:.*]] = arith.addf %[[ARG0]], %[[CST]] : tensor<2xf32>
// CHECK-NEXT: return %[[CST]], %[[V0]] : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT: }
func.func @sum(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // A comment inside stays.
  %a = arith.constant dense<1.0> : tensor<2xf32>
  %b = arith.addf %a, %a : tensor<2xf32>
  %c = arith.addf %x, %b : tensor<2xf32>
  return %b, %c : tensor<2xf32>, tensor<2xf32>
}

// No line checks this function: none is added.
func.func @unchecked() {
  return
}

// -----

// CHECK-LABEL: func.func @view
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT: %[[EXPANDED:.*]] = tensor.expand_shape %[[ARG0]] {{\[\[}}0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
// CHECK-NEXT: return %[[EXPANDED]] : tensor<2x2xf32>
// CHECK-NEXT: }
func.func @view(%x: tensor<4xf32>)
    -> tensor<2x2xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
