// SGD with momentum has one state for each trained parameter.
// RUN: zero-opt %s --zero-build-step="optimizer=sgd settings={momentum=0.9 nesterov}" | FileCheck %s

// CHECK: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "sgd(

// CHECK: zero.state optimizer @w.momentum_buffer of @w : tensor<8x4xf32> {splat = 0.000000e+00 : f64}
zero.parameter @w : tensor<8x4xf32> {splat = 0.5}
zero.parameter @frozen : tensor<4xf32> {splat = 0.5, frozen}

func.func @step(%dw: tensor<8x4xf32> {zero.binding = "dw"}, %l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: zero.update @w [@w.momentum_buffer],
  return %l : tensor<f32>
}
