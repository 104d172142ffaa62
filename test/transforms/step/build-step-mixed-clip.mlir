// bf16 parameters, four micro-batches and clipping to a global norm. Between gradients and updates
// the pass inserts f32 masters, accumulation over micro-batches, the global norm with the factor
// that clips to it, and a loss scale that adapts.
// RUN: zero-opt %s --zero-build-step="micro-batches=4 clip-norm=1.0" | FileCheck %s

module attributes {zero.precision = bf16} {
zero.state optimizer @loss_scale : tensor<f32> {splat = 256.0}
// Counters of the adaptive loss scale. The f32 master of a parameter comes before its moments and
// starts from the parameter's data.
// CHECK-DAG: zero.state optimizer @loss_scale.good_steps : tensor<f32> {splat = 0.000000e+00 : f64}
// CHECK-DAG: zero.state optimizer @loss_scale.patience : tensor<f32> {splat = 1.000000e+00 : f64}
// CHECK: zero.parameter @a.weight
// CHECK-NEXT: zero.state optimizer @a.weight.master of @a.weight : tensor<8x4xf32> {data = #zero.data<"m.onnx", 0, 128, f32>}
// CHECK-NEXT: zero.state optimizer @a.weight.exp_avg of @a.weight : tensor<8x4xf32>
zero.parameter @a.weight : tensor<8x4xbf16> {data = #zero.data<"m.onnx", 0, 128, f32>}
zero.parameter @a.bias : tensor<4xbf16> {splat = 0.5}

// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<f32> {zero.binding = "gradient_norm"}, tensor<f32> {zero.binding = "loss_scale"}, tensor<i1> {zero.binding = "applied"}, tensor<f32> {zero.binding = "learning_rate"}
func.func @step(%dw: tensor<8x4xbf16>, %db: tensor<4xbf16>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: %[[GW:.*]] = zero.gradient @a.weight, %{{.*}} accumulate [@accumulate_bf16_first, @accumulate_bf16_later] : tensor<8x4xbf16> -> tensor<8x4xf32>
  // CHECK: %[[GB:.*]] = zero.gradient @a.bias, %{{.*}} accumulate [@accumulate_bf16_first, @accumulate_bf16_later]
  %gw = zero.gradient @a.weight, %dw : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %gb = zero.gradient @a.bias, %db : tensor<4xbf16> -> tensor<4xbf16>
  // CHECK: zero.micro_mean %{{.*}} accumulate [@mean_f32_first, @mean_f32_later]
  // CHECK: %[[SCALE:.*]] = zero.read @loss_scale
  // CHECK: %[[SW:.*]] = zero.square_sum %[[GW]] by [@square_blocks_f32, @total]
  // CHECK: %[[SB:.*]] = zero.square_sum %[[GB]] by
  // CHECK: %[[ALL:.*]] = zero.bucket(%[[SW]], %[[SB]]) at [0, 1]
  // CHECK: %[[SUM:.*]] = zero.launch @total_f64(%[[ALL]])
  // CHECK: %[[F:.*]]:4 = zero.launch @gradient_factor(%[[SUM]], %[[SCALE]])
  // CHECK: %[[NEXT:.*]]:4 = zero.launch @next_loss_scale(%[[F]]#2, %[[SCALE]],
  // CHECK: zero.check %[[NEXT]]#3 in[0, 0] "the gradients overflow
  // CHECK: zero.write @loss_scale, %[[NEXT]]#0 {zero.schedule = #zero.schedule<epilogue>}
  // The count of steps and the update are conditional: a step whose gradients overflow does not
  // count.
  // CHECK: zero.write @optimizer.beta1_power, %{{.*}} if %[[F]]#2
  // CHECK: zero.update @a.weight [@a.weight.master, @a.weight.exp_avg, @a.weight.exp_avg_sq], %[[GW]] by @update(%[[F]]#1, {{.*}}) if %[[F]]#2

  return %l : tensor<f32>
}
}
// CHECK: func.func private @accumulate_bf16_first(%{{.*}}: tensor<?xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xbf16>) -> tensor<?xf32>
// The update writes the 16-bit parameter and its f32 master in one pass.
// CHECK: func.func private @update(%{{.*}}: tensor<?xbf16> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 1 : i64},
// CHECK: arith.truncf %{{.*}} : f32 to bf16
