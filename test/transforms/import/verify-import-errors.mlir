// RUN: zero-opt %s --split-input-file --zero-verify-import --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

// All unknown operators in one error, each with the first of its nodes.
// expected-error @+2 {{2 operators are not supported}}
// expected-note @+1 {{write the model with operators of docs/reference/ops.md, or export it for another opset}}
module {
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) {
    // expected-note @+1 {{Fancy, opset 18: 4 nodes, "a", "b", "c", ...}}
    %0 = onnx.node "Fancy"(%x) {} opset 18 node "a" : (tensor<4xf32>) -> tensor<4xf32>
    %1 = onnx.node "Fancy"(%x) {} opset 18 node "b" : (tensor<4xf32>) -> tensor<4xf32>
    %2 = onnx.node "Fancy"(%x) {} opset 18 node "c" : (tensor<4xf32>) -> tensor<4xf32>
    %3 = onnx.node "Fancy"(%x) {} opset 18 node "d" : (tensor<4xf32>) -> tensor<4xf32>
    // expected-note @+1 {{Relu of domain 'com.acme', opset 1: 1 node, "e"}}
    %4 = onnx.node "Relu"(%x) {} domain "com.acme" opset 1 node "e" : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) {
  // expected-error @+1 {{Relu node 'r': expected a static shape of result 0, got 'tensor<?xf32>'}}
  %0 = onnx.node "Relu"(%x) {} opset 14 node "r" : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

// expected-error @+1 {{tensor 'w': expected f32 or f64, got 'bf16'}}
zero.state constant @w : tensor<4xbf16> {data = #zero.data<"m.onnx", 0, 8>}
func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) {
  return
}

// -----

// expected-error @+1 {{expected a name ('zero.binding') on input 0}}
func.func @step(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error @+1 {{expected a name ('zero.binding') on result 0}}
func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
