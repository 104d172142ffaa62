// RUN: zero-opt %s --zero-add-adapters=dora --verify-diagnostics

// The norms of a matrix whose elements are permuted are no norms of rows or columns of the tensor.
zero.parameter @"permuted.weight" : tensor<2x4x3xf32> {frozen}

func.func @step(%x: tensor<5x4xf32>, %six: tensor<2xi64>) -> tensor<5x6xf32> {
  %p = zero.read @"permuted.weight" : tensor<2x4x3xf32>
  %0 = onnx.node "Transpose"(%p) {perm = [1, 0, 2]} opset 18 : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  %1 = onnx.node "Reshape"(%0, %six) {} opset 18 : (tensor<4x2x3xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  // expected-error @below {{--dora: the matrix of 'permuted' is permuted before its product; expected its elements in their order}}
  %2 = onnx.node "MatMul"(%x, %1) {} opset 18 {zero.adapted_module = "permuted", zero.adapted_operand = 1 : i64} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}
