// The default optimizer, AdamW. The pass adds two moments for each trained parameter and two
// scalars of the optimizer, computes the scalars of the step in one launch, inserts one update for
// each gradient, and returns the mean of the loss over ranks, the rank's own loss and the learning
// rate.
// RUN: zero-opt %s --zero-build-step | FileCheck %s

// CHECK: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "adamw(betas=0.9,0.999 eps=1e-08 weight_decay=0)"}

// CHECK-DAG: zero.state optimizer @optimizer.beta1_power : tensor<f64> {splat = 1.000000e+00 : f64}
// CHECK-DAG: zero.state optimizer @optimizer.beta2_power : tensor<f64> {splat = 1.000000e+00 : f64}
// CHECK: zero.parameter @w
// CHECK-DAG: zero.state optimizer @w.exp_avg of @w : tensor<8x4xf32> {splat = 0.000000e+00 : f64}
// CHECK-DAG: zero.state optimizer @w.exp_avg_sq of @w : tensor<8x4xf32> {splat = 0.000000e+00 : f64}
zero.parameter @w : tensor<8x4xf32> {splat = 0.5}
// CHECK: zero.parameter @frozen
// CHECK-NOT: of @frozen
zero.parameter @frozen : tensor<4xf32> {splat = 0.5, frozen}

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[LR:[^ ]+]]: tensor<f32> {zero.binding = "learning_rate"}) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}, tensor<f32> {zero.binding = "learning_rate"})
func.func @step(%dw: tensor<8x4xf32> {zero.binding = "dw"}, %l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: %[[G:.*]] = zero.gradient @w
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: %[[OWN:.*]] = zero.micro_mean %{{.*}} : tensor<f32>
  // CHECK: %[[MEAN:.*]] = zero.rank_mean %[[OWN]] : tensor<f32>
  // CHECK: %[[P1:.*]] = zero.read @optimizer.beta1_power {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // CHECK: %[[P2:.*]] = zero.read @optimizer.beta2_power {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // CHECK: %[[S:.*]]:6 = zero.launch @update_scalars(%[[LR]], %[[P1]], %[[P2]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
  // CHECK: zero.write @optimizer.beta1_power, %[[S]]#0 {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // CHECK: zero.write @optimizer.beta2_power, %[[S]]#1 {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // CHECK: zero.update @w [@w.exp_avg, @w.exp_avg_sq], %[[G]] by @update(%[[S]]#3, %[[S]]#4, %[[S]]#5) {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>, (tensor<f32>, tensor<f32>, tensor<f32>)
  // CHECK: return %[[MEAN]], %[[OWN]], %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// The update is a kernel that accepts any length. Its results overwrite its operands, and it
// contracts only where it says so.
// CHECK: func.func private @update(%{{.*}}: tensor<?xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 1 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 2 : i64}, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK-SAME: attributes {zero.kernel}
// CHECK-NOT: fastmath
// CHECK: math.fma
