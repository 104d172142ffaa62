// RUN: zero-opt %s --split-input-file --zero-differentiate --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
  func.func @main() {
    return
  }
}

// -----

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
  func.func private @step()
}

// -----

// expected-error @+1 {{expected a step of one block}}
func.func @step() {
  cf.br ^next
^next:
  return
}

// -----

// expected-error @+2 {{nothing to train: the model has no trainable parameter}}
// expected-note @+1 {{parameters are initializers of a model; if they are inputs whose next values are outputs, pair them with --carry=INPUT=OUTPUT,...}}
func.func @step(%x: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  return %x : tensor<f32>
}

// -----

zero.parameter @w : tensor<f32>
// expected-error @+1 {{expected a result with zero.binding = "loss"}}
func.func @step() -> tensor<f32> {
  %w = zero.read @w : tensor<f32>
  return %w : tensor<f32>
}

// -----

zero.parameter @w : tensor<4xf32>
// expected-error @+1 {{expected a loss of one float element, got 'tensor<4xf32>'}}
func.func @step() -> (tensor<4xf32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

zero.parameter @w : tensor<f32>
// expected-error @+1 {{expected a loss of one float element, got 'tensor<i64>'}}
func.func @step(%n: tensor<i64>) -> (tensor<i64> {zero.binding = "loss"}) {
  return %n : tensor<i64>
}

// -----

zero.parameter @w : tensor<f32>
// expected-error @+1 {{the loss does not depend on any trained parameter}}
func.func @step(%x: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  return %x : tensor<f32>
}

// -----

zero.parameter @w : tensor<f32>
// expected-error @+1 {{parameter 'unused' is to be trained but does not reach the loss; freeze it or leave it out of --trainable}}
zero.parameter @unused : tensor<f32>
func.func @step() -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<f32>
  %u = zero.read @unused : tensor<f32>
  %loss = onnx.node "Exp"(%w) {} opset 13 : (tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The derivative of a rounding is zero: nothing is trained through it.

zero.parameter @w : tensor<f32>
// expected-error @+1 {{the loss does not depend on any trained parameter}}
func.func @step() -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<f32>
  // expected-note @+1 {{a path ends at Floor node '', whose derivative is zero}}
  %whole = onnx.node "Floor"(%w) {} opset 13 : (tensor<f32>) -> tensor<f32>
  %loss = onnx.node "Exp"(%whole) {} opset 13 : (tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The second path of a parameter must not hide that one has no derivative.

zero.parameter @w : tensor<f32>
func.func @step() -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<f32>
  %bits = onnx.node "BitCast"(%w) {to = 6 : i64} opset 26 : (tensor<f32>) -> tensor<i32>
  // expected-error @+2 {{Cast node '' has no gradient, but the loss depends through it on what is trained}}
  // expected-note @+1 {{replace the operator, freeze the parameters in front of it, or cut the gradient}}
  %whole = onnx.node "Cast"(%bits) {to = 1 : i64} opset 13 : (tensor<i32>) -> tensor<f32>
  %loss = onnx.node "Add"(%w, %whole) {} opset 13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

zero.parameter @w : tensor<f32>
func.func @step() -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<f32>
  %bits = onnx.node "BitCast"(%w) {to = 6 : i64} opset 26 : (tensor<f32>) -> tensor<i32>
  // expected-error @+2 {{BitCast node '' has no gradient, but the loss depends through it on what is trained}}
  // expected-note @+1 {{replace the operator, freeze the parameters in front of it, or cut the gradient}}
  %same = onnx.node "BitCast"(%bits) {to = 1 : i64} opset 26 : (tensor<i32>) -> tensor<f32>
  %loss = onnx.node "Add"(%w, %same) {} opset 13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
