// RUN: zero-opt %s --zero-build-step | FileCheck %s --check-prefixes=CHECK,ADAM
// RUN: zero-opt %s --zero-build-step="optimizer=adam settings={weight-decay=0.1 betas=0.5,0.999}" | FileCheck %s --check-prefix=L2
// RUN: zero-opt %s --zero-build-step=optimizer=sgd | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: zero-opt %s --zero-build-step="optimizer=sgd settings={momentum=0.9 nesterov}" | FileCheck %s --check-prefix=MOMENTUM

// ADAM: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "adamw(betas=0.9,0.999 eps=1e-08 weight_decay=0)"}
// L2: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "adam(betas=0.5,0.999 eps=1e-08 weight_decay=0.1)"}
// SGD: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "sgd
// MOMENTUM: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "sgd(

// ADAM-DAG: zero.state optimizer @optimizer.beta1_power : tensor<f64> {splat = 1.000000e+00 : f64}
// ADAM-DAG: zero.state optimizer @optimizer.beta2_power : tensor<f64> {splat = 1.000000e+00 : f64}
// ADAM: zero.parameter @w
// ADAM-DAG: zero.state optimizer @w.exp_avg of @w : tensor<8x4xf32> {splat = 0.000000e+00 : f64}
// ADAM-DAG: zero.state optimizer @w.exp_avg_sq of @w : tensor<8x4xf32> {splat = 0.000000e+00 : f64}
// SGD-NOT: of @w
// MOMENTUM: zero.state optimizer @w.momentum_buffer of @w : tensor<8x4xf32> {splat = 0.000000e+00 : f64}
zero.parameter @w : tensor<8x4xf32> {splat = 0.5}
// CHECK: zero.parameter @frozen
// ADAM-NOT: of @frozen
zero.parameter @frozen : tensor<4xf32> {splat = 0.5, frozen}

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[LR:[^ ]+]]: tensor<f32> {zero.binding = "learning_rate"}) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}, tensor<f32> {zero.binding = "learning_rate"})
func.func @step(%dw: tensor<8x4xf32> {zero.binding = "dw"}, %l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: %[[G:.*]] = zero.gradient @w
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: %[[OWN:.*]] = zero.micro_mean %{{.*}} : tensor<f32>
  // CHECK: %[[MEAN:.*]] = zero.rank_mean %[[OWN]] : tensor<f32>
  // ADAM: %[[P1:.*]] = zero.read @optimizer.beta1_power {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // ADAM: %[[P2:.*]] = zero.read @optimizer.beta2_power {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // ADAM: %[[S:.*]]:6 = zero.launch @update_scalars(%[[LR]], %[[P1]], %[[P2]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
  // ADAM: zero.write @optimizer.beta1_power, %[[S]]#0 {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // ADAM: zero.write @optimizer.beta2_power, %[[S]]#1 {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // ADAM: zero.update @w [@w.exp_avg, @w.exp_avg_sq], %[[G]] by @update(%[[S]]#3, %[[S]]#4, %[[S]]#5) {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>, (tensor<f32>, tensor<f32>, tensor<f32>)
  // SGD: zero.update @w [], %[[G]] by @update(
  // MOMENTUM: zero.update @w [@w.momentum_buffer],
  // CHECK: return %[[MEAN]], %[[OWN]], %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// The update works on any length, its results in place of the operands, and
// contracts only where it says so.
// ADAM: func.func private @update(%{{.*}}: tensor<?xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 1 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 2 : i64}, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// ADAM-SAME: attributes {zero.kernel}
// ADAM-NOT: fastmath
// ADAM: math.fma
