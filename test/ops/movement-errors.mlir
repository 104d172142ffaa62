// RUN: zero-opt %s --zero-expand-nodes --zero-lower-onnx --split-input-file --verify-diagnostics -o /dev/null

func.func @outside(%w: tensor<4x64xf32>) -> tensor<2x64xf32> {
  %i = arith.constant dense<[3, 4]> : tensor<2xi64>
  // expected-error @below {{Gather node 'embed': expected indices in [-4, 3], got 4}}
  %y = onnx.node "Gather"(%w, %i) {} opset 18 node "embed" : (tensor<4x64xf32>, tensor<2xi64>) -> tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>, %start: tensor<1xi64>) -> tensor<2xf32> {
  %end = arith.constant dense<2> : tensor<1xi64>
  // expected-error @below {{Slice node 's': expected 'starts' to be a constant}}
  %y = onnx.node "Slice"(%x, %start, %end) {} opset 18 node "s" : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @scatter(%x: tensor<4xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<4xf32> {
  // expected-error @below {{ScatterElements node 's': expected reduction 'none', 'add', 'mul', 'max' or 'min', got 'mean'}}
  %y = onnx.node "ScatterElements"(%x, %i, %u) {reduction = "mean"} opset 18 node "s" : (tensor<4xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
