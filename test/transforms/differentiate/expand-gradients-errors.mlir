// RUN: zero-opt %s --split-input-file --zero-expand-gradients --verify-diagnostics

func.func @step(%a: tensor<f32>) -> tensor<f32> {
  %y = onnx.node "Exp"(%a) {} opset 13 : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{Gradient node 'g': expected 3 operands and at most 1 results for 1 tensors 'xs' and 0 tensors 'zs', got 2 and 1}}
  %g = onnx.node "Gradient"(%a, %y) {xs = ["a"], y = "y"} domain "ai.onnx.preview.training" opset 1
    node "g" : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @step(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<f32> {
  %y = onnx.node "Exp"(%a) {} opset 13 : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{Gradient node 'g': expected 'tensor<f32>' as the value of the tensor of this type, got 'tensor<2xf32>'}}
  %g = onnx.node "Gradient"(%b, %a, %y) {xs = ["a"], y = "y"} domain "ai.onnx.preview.training"
    opset 1 node "g" : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @step(%a: tensor<i64>) -> tensor<i64> {
  // expected-error @+1 {{Gradient node 'g': expected floats as y, got 'tensor<i64>'}}
  %g = onnx.node "Gradient"(%a, %a, %a) {xs = ["a"], y = "a"} domain "ai.onnx.preview.training"
    opset 1 node "g" : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<i64>
  return %g : tensor<i64>
}
