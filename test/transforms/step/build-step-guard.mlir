// A step beyond a limit changes no state, and a loss scale does not adapt to it.
// RUN: zero-opt %s --zero-build-step="optimizer=sgd skip-above=3.0" | FileCheck %s --check-prefixes=CHECK,NORM
// RUN: zero-opt %s --zero-build-step="optimizer=sgd skip-spikes=2.0" | FileCheck %s --check-prefixes=CHECK,LOSS

module attributes {zero.precision = f16} {
// LOSS: zero.state optimizer @guard.mean_loss : tensor<f32> {{.*}}splat = 0.0
zero.state optimizer @loss_scale : tensor<f32> {splat = 256.0}
zero.parameter @a : tensor<8xf16> {data = #zero.data<"m.onnx", 0, 32, f32>}

func.func @step(%d: tensor<8xf16>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @a, %d : tensor<8xf16> -> tensor<8xf16>
  // CHECK: %[[F:.*]]:4 = zero.launch @gradient_factor(
  // NORM: %[[APPLIED:.*]] = zero.launch @step_guard(%[[F]]#2, %[[F]]#0)
  // LOSS: %[[MEAN:.*]] = zero.read @guard.mean_loss
  // LOSS: %[[G:.*]]:2 = zero.launch @step_guard(%[[F]]#2, %[[F]]#0, %{{.*}}, %[[MEAN]])
  // LOSS: zero.write @guard.mean_loss, %[[G]]#1 if %[[G]]#0
  // CHECK: zero.launch @next_loss_scale(%[[F]]#2
  // NORM: zero.update @a {{.*}} if %[[APPLIED]]
  // LOSS: zero.update @a {{.*}} if %[[G]]#0
  return %l : tensor<f32>
}
}
// NORM-LABEL: func.func private @step_guard
// NORM: arith.constant 3.000000e+00 : f32
// NORM: arith.cmpf ole
// LOSS-LABEL: func.func private @step_guard
// LOSS: arith.cmpf ole
