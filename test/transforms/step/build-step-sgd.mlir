// SGD without momentum has no states: an update reads the parameter and its gradient only.
// RUN: zero-opt %s --zero-build-step=optimizer=sgd | FileCheck %s

// CHECK: module attributes {zero.micro_batches = 1 : i64, zero.optimizer = "sgd

// CHECK-NOT: of @w
zero.parameter @w : tensor<8x4xf32> {splat = 0.5}
// CHECK: zero.parameter @frozen
zero.parameter @frozen : tensor<4xf32> {splat = 0.5, frozen}

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[LR:[^ ]+]]: tensor<f32> {zero.binding = "learning_rate"}) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}, tensor<f32> {zero.binding = "learning_rate"})
func.func @step(%dw: tensor<8x4xf32> {zero.binding = "dw"}, %l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: %[[G:.*]] = zero.gradient @w
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: %[[OWN:.*]] = zero.micro_mean %{{.*}} : tensor<f32>
  // CHECK: %[[MEAN:.*]] = zero.rank_mean %[[OWN]] : tensor<f32>
  // CHECK: zero.update @w [], %[[G]] by @update(
  // CHECK: return %[[MEAN]], %[[OWN]], %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}
