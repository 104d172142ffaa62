// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=fp16 --verify-diagnostics
// RUN: not zero-opt %s --split-input-file --zero-set-precision=precision=fp8 2>&1 | FileCheck %s

// CHECK: --precision option: expected fp32, bf16 or fp16, got 'fp8'

// A graph that contains its gradients determines the types.
zero.parameter @w : tensor<8xf32> {splat = 0.5}
func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8xf32>
  // expected-error @+1 {{--precision=fp16: the graph already contains a training step, whose types do not change; leave it out}}
  %g = zero.gradient @w, %w : tensor<8xf32> -> tensor<8xf32>
  return %x : tensor<f32>
}

// -----

func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // expected-error @+1 {{--precision=fp16: expected nodes of a model, got 'arith.addf', which computes in the types that it has}}
  %y = arith.addf %x, %x : tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error @+1 {{initializer 'loss_scale': expected another name, that of the loss scale is reserved}}
zero.parameter @loss_scale : tensor<2xf32> {splat = 0.5}
func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{expected a result with zero.binding = "loss"}}
func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "y"}) {
  return %x : tensor<f32>
}
