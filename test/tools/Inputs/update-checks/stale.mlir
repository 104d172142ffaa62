// Constants are folded.
// RUN: zero-opt %s --split-input-file --canonicalize | FileCheck %s

// A comment above stays.
// CHECK-LABEL: func.func @sum
// CHECK: arith.subf
func.func @sum(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // A comment inside stays.
  %a = arith.constant dense<1.0> : tensor<2xf32>
  // CHECK: arith.mulf
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
func.func @view(%x: tensor<4xf32>)
    -> tensor<2x2xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
// CHECK: tensor.reshape
