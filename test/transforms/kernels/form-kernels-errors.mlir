// RUN: zero-opt %s --split-input-file --zero-form-kernels --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{Fancy node 'f' of opset 18 is not known}}
  %y = onnx.node "Fancy"(%x) {} opset 18 node "f" : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The rule of the operator may report an error.
func.func @step(%x: tensor<4xf32>) -> tensor<1xf32> {
  // expected-error @+1 {{expected axes in [-1, 1) in ReduceSum node 'r', got 2}}
  %y = onnx.node "ReduceSum"(%x) {axes = array<i64: 2>} opset 13 node "r" : (tensor<4xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
