// RUN: not zero-opt %s --split-input-file --zero-verify-import 2>&1 | FileCheck %s

// CHECK: error: 1 operators are not supported
// CHECK: note: Unheard, opset 18: 1 node, "n"
func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %loss = onnx.node "Unheard"(%x) {} opset 18 node "n" : (tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK: error: Relu node 'act': expected a static shape of result 0, got 'tensor<?xf32>'
func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<?xf32> {zero.binding = "loss"}) {
  %loss = onnx.node "Relu"(%x) {} opset 18 node "act" : (tensor<4xf32>) -> tensor<?xf32>
  return %loss : tensor<?xf32>
}

// -----

// CHECK: error: expected a name ('zero.binding') on input 0
func.func @step(%x: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  return %x : tensor<f32>
}

// -----

// CHECK: error: tensor 'b': expected a name of its own as an alias, got 'a', which is another's
zero.state constant @a : tensor<2xf32> {splat = 0.0}
zero.state constant @b : tensor<2xf32> {splat = 0.0, zero.aliases = ["c", "a"]}
func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  return %x : tensor<f32>
}
