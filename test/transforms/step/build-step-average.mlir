// The average of a parameter is the first state of its update, and its weight the last scalar. It
// begins with the value of the parameter.
// RUN: zero-opt %s --zero-build-step="optimizer=sgd settings=momentum=0.9 ema=0.75 ema-every=2 ema-start=3" | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=sgd ema=mean" | FileCheck %s --check-prefix=MEAN
// RUN: not zero-opt %s --zero-build-step="optimizer=lamb ema=0.9" 2>&1 | FileCheck %s --check-prefix=LAMB
// RUN: not zero-opt %s --zero-build-step="ema=2" 2>&1 | FileCheck %s --check-prefix=BAD

module {
// CHECK-DAG: zero.state optimizer @a.average of @a : tensor<8xf32> {data = #zero.data<"m.onnx", 0, 32>}
// CHECK-DAG: zero.state optimizer @a.momentum_buffer of @a : tensor<8xf32> {splat = 0.000000e+00 : f64}
// CHECK-DAG: zero.state optimizer @optimizer.average_updates : tensor<f64> {splat = 0.000000e+00 : f64}
zero.parameter @a : tensor<8xf32> {data = #zero.data<"m.onnx", 0, 32>}

func.func @step(%d: tensor<8xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @a, %d : tensor<8xf32> -> tensor<8xf32>
  // CHECK: %[[U:.*]] = zero.read @optimizer.average_updates
  // CHECK: %[[S:.*]]:{{[0-9]+}} = zero.launch @update_scalars(%{{[^,]*}}, %[[U]])
  // CHECK: zero.write @optimizer.average_updates, %[[S]]#0
  // CHECK: zero.update @a [@a.average, @a.momentum_buffer]
  return %l : tensor<f32>
}
}
// The update after 3, 5, ... has a weight of 1 - 0.75, the first one of 1, and others of 0.
// CHECK-LABEL: func.func private @update_scalars
// CHECK: math.floor
// CHECK: arith.constant 2.500000e-01 : f64
// CHECK-LABEL: func.func private @update
// CHECK: arith.subf
// CHECK: math.fma
// CHECK: arith.select

// With equal weights the n-th value has that of 1 / n.
// MEAN-LABEL: func.func private @update_scalars
// MEAN: math.floor
// MEAN: arith.divf

// LAMB: an average of parameters: expected an optimizer that does not scale steps by norms of whole parameters, got lamb
// BAD: ema: expected 'mean', or a decay rate from 0 to below 1, got '2'
