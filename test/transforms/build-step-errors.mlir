// RUN: not zero-opt %s --zero-build-step=optimizer=lars 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not zero-opt %s --zero-build-step=beta1=1.5 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not zero-opt %s --zero-build-step=eps=-1 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not zero-opt %s --zero-build-step=weight-decay=-1 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not zero-opt %s --zero-build-step="optimizer=sgd momentum=-1" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not zero-opt %s --zero-build-step="optimizer=sgd nesterov=true" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not zero-opt %s --zero-build-step=momentum=0.9 2>&1 | FileCheck %s --check-prefix=EFFECT
// RUN: zero-opt %s --zero-build-step --verify-diagnostics

// NAME: error: unknown optimizer 'lars', expected sgd, adam, adamw, lamb or lion
// BETA: error: expected betas in [0, 1), got 1.5,0.999
// EPS: error: expected eps >= 0, got -1
// DECAY: error: expected a weight decay >= 0, got -1
// MOMENTUM: error: expected a momentum >= 0, got -1
// NESTEROV: error: nesterov needs a momentum and no dampening
// EFFECT: error: momentum, dampening and nesterov are options of sgd, got 'adamw'
zero.parameter @w : tensor<8xf32>
// expected-error @+1 {{expected a result with zero.binding = "loss"}}
func.func @step(%dw: tensor<8xf32>) -> tensor<8xf32> {
  %g = zero.gradient @w, %dw : tensor<8xf32> -> tensor<8xf32>
  return %g : tensor<8xf32>
}
