// What lies between gradient and update of 16-bit parameters: masters, accumulation,
// the global norm, a loss scale that adapts, groups, layers.
// RUN: zero-opt %s --zero-build-step="micro-batches=4 clip-norm=1.0" | FileCheck %s
// RUN: zero-opt %s --zero-build-step="loss-scale=128 optimizer=sgd" | FileCheck %s --check-prefix=FIXED
// RUN: zero-opt %s --zero-build-step="settings=weight-decay=0.1 no-decay=*.bias param-group=a.weight:lr-scale=0.5 lr-schedule=cosine warmup-steps=2 total-steps=9" | FileCheck %s --check-prefix=GROUPS
// RUN: zero-opt %s --zero-build-step=optimizer=lamb | FileCheck %s --check-prefix=LAMB

module attributes {zero.precision = bf16} {
zero.state optimizer @loss_scale : tensor<f32> {splat = 256.0}
// The scale's counters, then the master before the moments, from the parameter's data.
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
  // FIXED: zero.gradient @a.weight, %{{.*}} : tensor<8x4xbf16> -> tensor<8x4xbf16>
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
  // A fixed scale stays.
  // FIXED-NOT: zero.write @loss_scale
  // What counts steps, and the update, only if the step counts.
  // CHECK: zero.write @optimizer.beta1_power, %{{.*}} if %[[F]]#2
  // CHECK: zero.update @a.weight [@a.weight.master, @a.weight.exp_avg, @a.weight.exp_avg_sq], %[[GW]] by @update(%[[F]]#1, {{.*}}) if %[[F]]#2

  // GROUPS: %[[C:.*]] = zero.read @optimizer.updates
  // GROUPS: %[[S:.*]]:13 = zero.launch @update_scalars(%{{[^,]*}}, %[[C]],
  // GROUPS: zero.update @a.weight {{.*}} by @update(%{{[^,]*}}, %[[S]]#4,
  // GROUPS: zero.update @a.bias {{.*}} by @update_1(%{{[^,]*}}, %[[S]]#7,
  // LAMB: zero.update @a.weight [@a.weight.master, @a.weight.exp_avg, @a.weight.exp_avg_sq], %{{.*}} by @update layerwise [@update_measure, @update_total, @update_ratio](
  return %l : tensor<f32>
}
}
// CHECK: func.func private @accumulate_bf16_first(%{{.*}}: tensor<?xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xbf16>) -> tensor<?xf32>
// The 16-bit parameter and its master in one pass.
// CHECK: func.func private @update(%{{.*}}: tensor<?xbf16> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 1 : i64},
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// GROUPS: math.fma
