// Settings of an optimizer become part of the module's attribute: Adam with weight decay and
// non-default betas.
// RUN: zero-opt %s --zero-build-step="optimizer=adam settings={weight-decay=0.1 betas=0.5,0.999}" | FileCheck %s

// CHECK: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "adam(betas=0.5,0.999 eps=1e-08 weight_decay=0.1)"}

zero.parameter @w : tensor<8x4xf32> {splat = 0.5}
zero.parameter @frozen : tensor<4xf32> {splat = 0.5, frozen}

func.func @step(%dw: tensor<8x4xf32> {zero.binding = "dw"}, %l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  return %l : tensor<f32>
}
