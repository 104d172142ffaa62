// The factor on gradients depends on the norm that the step before has kept, and on no gradient.
// RUN: zero-opt %s --zero-build-step="optimizer=sgd clip-norm=1.0 clip-by-previous" | FileCheck %s
// RUN: not zero-opt %s --zero-build-step="optimizer=sgd clip-by-previous" 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not zero-opt %s --zero-build-step="optimizer=sgd clip-norm=1.0 clip-by-previous nonfinite=skip" 2>&1 | FileCheck %s --check-prefix=SKIP

// NORM: error: --clip-by-previous: expected --clip-norm
// SKIP: error: --clip-by-previous: expected no --precision=fp16, --nonfinite=skip or --skip-..., which decide by all gradients whether the step counts

// CHECK: zero.state optimizer @clip.norm : tensor<f32> {splat = 0.000000e+00 : f64, zero.late = 0.000000e+00 : f64}
// CHECK-LABEL: func.func @step
// CHECK: %[[OWN:.*]]:2 = zero.launch @gradient_factor(%{{.*}})
// CHECK: %[[BEFORE:.*]] = zero.read @clip.norm
// CHECK: %[[FACTOR:.*]] = zero.launch @clip_factor(%[[BEFORE]])
// CHECK: zero.write @clip.norm, %[[OWN]]#0
// CHECK: zero.update @w [], %{{.*}} by @update({{.*}}%[[FACTOR]]
// CHECK: return %{{.*}}, %[[OWN]]#0
zero.parameter @w : tensor<8xf32> {splat = 0.5}

func.func @step(%dw: tensor<8xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @w, %dw : tensor<8xf32> -> tensor<8xf32>
  return %l : tensor<f32>
}
