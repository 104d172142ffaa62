// With nonfinite=skip, updates and counters have a condition: that the norm of the gradients is
// finite. Without clipping, no factor is on the gradients, so that a step that counts has the same
// bits as without the option.
// RUN: zero-opt %s --zero-build-step="optimizer=sgd nonfinite=skip" | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=sgd" | FileCheck %s --check-prefix=STOP
// STOP-NOT: zero.square_sum
// STOP: zero.update @w [], %{{.*}} by @update(%{{[^,)]*}}) {zero.schedule

zero.parameter @w : tensor<8xf32> {splat = 0.5}

// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<f32> {zero.binding = "gradient_norm"}, tensor<i1> {zero.binding = "applied"}
func.func @step(%dw: tensor<8xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @w, %dw : tensor<8xf32> -> tensor<8xf32>
  // CHECK: %[[S:.*]] = zero.square_sum %{{.*}} by [@square_blocks_f32, @total]
  // CHECK: %[[F:.*]]:3 = zero.launch @gradient_factor(%{{.*}})
  // CHECK: zero.update @w [], %{{.*}} by @update(%{{[^,)]*}}) if %[[F]]#2
  return %l : tensor<f32>
}
