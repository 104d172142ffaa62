// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-place-activations=mode=layer

// Two values cross everywhere, so there is no cut.
// expected-error@+1 {{--checkpoint=layer has no effect: no layers are found, because no single value connects one part of forward to the next}}
module {
func.func private @two(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {zero.kernel}
func.func private @loss(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @back(%l: tensor<f32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8x8xf32>
func.func @step(%i: tensor<8x8xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8x8xf32>
  %a:2 = zero.launch @two(%i, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %l = zero.launch @loss(%a#0, %a#1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %d = zero.launch @back(%l, %a#0, %a#1) : (tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = zero.gradient @w, %d : tensor<8x8xf32> -> tensor<8x8xf32>
  return %l : tensor<f32>
}
}

// -----

// Backward reads 32 bytes of each layer, but 256 bytes pass from one to the next.
// expected-error@+1 {{--checkpoint=layer has no effect: the 2 layers save 64 B for backward, and checkpoints would take 512 B}}
module {
func.func private @layer(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) attributes {zero.kernel}
func.func private @loss(%x: tensor<8x8xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @back(%l: tensor<f32>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8x8xf32>
func.func @step(%i: tensor<8x8xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8x8xf32>
  %a:2 = zero.launch @layer(%i, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  %b:2 = zero.launch @layer(%a#0, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  %l = zero.launch @loss(%b#0) : (tensor<8x8xf32>) -> tensor<f32>
  %d = zero.launch @back(%l, %a#1, %b#1) : (tensor<f32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %g = zero.gradient @w, %d : tensor<8x8xf32> -> tensor<8x8xf32>
  return %l : tensor<f32>
}
}
