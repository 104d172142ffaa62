// A fixed loss scale with bf16 parameters: with a single micro-batch gradients stay bf16, and no
// step writes the scale.
// RUN: zero-opt %s --zero-build-step="loss-scale=128 optimizer=sgd" | FileCheck %s

module attributes {zero.precision = bf16} {
zero.state optimizer @loss_scale : tensor<f32> {splat = 256.0}
zero.parameter @a.weight : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 0, 128, f32>}
zero.parameter @a.bias : tensor<4xbf16> {splat = 0.5}

func.func @step(%dw: tensor<8x4xbf16>, %db: tensor<4xbf16>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: zero.gradient @a.weight, %{{.*}} : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %gw = zero.gradient @a.weight, %dw : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %gb = zero.gradient @a.bias, %db : tensor<4xbf16> -> tensor<4xbf16>
  // A fixed loss scale is never written.
  // CHECK-NOT: zero.write @loss_scale

  return %l : tensor<f32>
}
}
