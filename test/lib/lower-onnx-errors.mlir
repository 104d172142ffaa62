// RUN: zero-opt %s --split-input-file --zero-lower-onnx --verify-diagnostics

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no lowering for Fancy node 'f' of opset 18}}
  %y = onnx.node "Fancy"(%x) {} opset 18 node "f" : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @axes(%x: tensor<4xf32>) -> tensor<1xf32> {
  // expected-error @+1 {{expected axes in [-1, 1) in ReduceSum node 'r', got 2}}
  %y = onnx.node "ReduceSum"(%x) {axes = array<i64: 2>} opset 13 node "r" : (tensor<4xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

func.func @runtime_axes(%x: tensor<4xf32>, %a: tensor<1xi64>) -> tensor<1xf32> {
  // expected-error @+1 {{expected constant axes in ReduceSum node 'r'}}
  %y = onnx.node "ReduceSum"(%x, %a) {} opset 13 node "r" : (tensor<4xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected approximate = 'none' or 'tanh' in Gelu node 'g', got 'quick'}}
  %y = onnx.node "Gelu"(%x) {approximate = "quick"} opset 20 node "g" : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
