// LAMB with bf16 parameters: the update is layerwise and names the kernels that measure, add up
// and compute the ratio.
// RUN: zero-opt %s --zero-build-step=optimizer=lamb | FileCheck %s

module attributes {zero.precision = bf16} {
zero.state optimizer @loss_scale : tensor<f32> {splat = 256.0}
zero.parameter @a.weight : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 0, 128, f32>}
zero.parameter @a.bias : tensor<4xbf16> {splat = 0.5}

func.func @step(%dw: tensor<8x4xbf16>, %db: tensor<4xbf16>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %gw = zero.gradient @a.weight, %dw : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %gb = zero.gradient @a.bias, %db : tensor<4xbf16> -> tensor<4xbf16>

  // CHECK: zero.update @a.weight [@a.weight.master, @a.weight.exp_avg, @a.weight.exp_avg_sq], %{{.*}} by @update layerwise [@update_measure, @update_total, @update_ratio](
  return %l : tensor<f32>
}
}
