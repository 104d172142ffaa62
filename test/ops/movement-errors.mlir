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

func.func @dropout(%x: tensor<4xf32>) -> tensor<4xf32> {
  %ratio = arith.constant dense<0.1> : tensor<f32>
  %training = arith.constant dense<true> : tensor<i1>
  // expected-error @below {{Dropout node 'd': a ratio other than 0 in training mode is not supported yet}}
  %y = onnx.node "Dropout"(%x, %ratio, %training) {} opset 18 node "d" : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @cache(%q: tensor<1x2x3x4xf32>, %p: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %none = onnx.none
  // expected-error @below {{Attention node 'a': operand 'past_key' is not supported yet}}
  %y = onnx.node "Attention"(%q, %q, %q, %none, %p, %p) {} opset 23 node "a" : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, none, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

func.func @scatter(%x: tensor<4xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<4xf32> {
  // expected-error @below {{ScatterElements node 's': reduction 'max' is not supported yet}}
  %y = onnx.node "ScatterElements"(%x, %i, %u) {reduction = "max"} opset 18 node "s" : (tensor<4xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
