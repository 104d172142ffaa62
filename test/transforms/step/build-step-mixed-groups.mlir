// Parameter groups: parameters of different settings have different update kernels and scalars. A
// learning-rate schedule reads the count of updates.
// RUN: zero-opt %s --zero-build-step="settings=weight-decay=0.1 no-decay=*.bias param-group=a.weight:lr-scale=0.5 lr-schedule=cosine warmup-steps=2 total-steps=9" | FileCheck %s

module attributes {zero.precision = bf16} {
zero.state optimizer @loss_scale : tensor<f32> {splat = 256.0}
zero.parameter @a.weight : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 0, 128, f32>}
zero.parameter @a.bias : tensor<4xbf16> {splat = 0.5}

func.func @step(%dw: tensor<8x4xbf16>, %db: tensor<4xbf16>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %gw = zero.gradient @a.weight, %dw : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %gb = zero.gradient @a.bias, %db : tensor<4xbf16> -> tensor<4xbf16>

  // CHECK: %[[C:.*]] = zero.read @optimizer.updates
  // CHECK: %[[S:.*]]:13 = zero.launch @update_scalars(%{{[^,]*}}, %[[C]],
  // CHECK: zero.update @a.weight {{.*}} by @update(%{{[^,]*}}, %[[S]]#4,
  // CHECK: zero.update @a.bias {{.*}} by @update_1(%{{[^,]*}}, %[[S]]#7,
  return %l : tensor<f32>
}
}
// An update multiplies and adds in one operation where it says so.
// CHECK: math.fma
