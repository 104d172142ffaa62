// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-return-state

// expected-error @below {{expected one micro-batch, got 4: a functional step takes its whole batch at once}}
module attributes {zero.micro_batches = 4 : i64} {
  func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

zero.state optimizer @s : tensor<f32> {splat = 0.0}
func.func @step(%x: tensor<f32> {zero.binding = "x"}, %c: tensor<i1> {zero.binding = "c"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // expected-error @below {{expected a step that always counts, got one with a loss scale}}
  zero.write @s, %x if %c : tensor<f32>
  return %x : tensor<f32>
}

// -----

zero.state optimizer @x.new : tensor<f32> {splat = 0.0}
zero.state optimizer @x : tensor<f32> {splat = 0.0}
// expected-error @below {{two tensors of the emitted graph have the name 'x.new': expected another name in the model}}
func.func @step(%l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  zero.write @x, %l : tensor<f32>
  zero.write @x.new, %l : tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // expected-error @below {{kernel @sorted has no form in plain ONNX operators: it needs 'scf.for'}}
  %l = zero.launch @sorted(%x) : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func private @sorted(%x: tensor<4xf32>) -> tensor<f32> attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %init = tensor.empty() : tensor<f32>
  %l = scf.for %i = %c0 to %c4 step %c1 iter_args(%carried = %init) -> tensor<f32> {
    scf.yield %carried : tensor<f32>
  }
  return %l : tensor<f32>
}
