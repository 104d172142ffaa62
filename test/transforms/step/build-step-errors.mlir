// RUN: not zero-opt %s --zero-build-step=optimizer=lars 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not zero-opt %s --zero-build-step=settings=betas=1.5,0.999 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not zero-opt %s --zero-build-step=settings=eps=-1 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not zero-opt %s --zero-build-step=settings=weight-decay=-1 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not zero-opt %s --zero-build-step="optimizer=sgd settings=momentum=-1" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not zero-opt %s --zero-build-step="optimizer=sgd settings=nesterov" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not zero-opt %s --zero-build-step=settings=momentum=0.9 2>&1 | FileCheck %s --check-prefix=EFFECT
// RUN: zero-opt %s --zero-build-step --verify-diagnostics

// NAME: error: optimizer: unknown optimizer 'lars', expected {{.*}}adam, adamw, {{.*}}, sgd or {{[a-z]+}}
// BETA: error: betas: expected numbers in [0, 1), got 1.5
// EPS: error: eps: expected a finite number >= 0, got -1
// DECAY: error: weight-decay: expected a finite number >= 0, got -1
// MOMENTUM: error: momentum: expected a finite number >= 0, got -1
// NESTEROV: error: nesterov: expected a momentum and no dampening, got momentum=0 and dampening=0
// EFFECT: error: momentum: has no effect with adamw, which has --betas, --eps and --weight-decay
zero.parameter @w : tensor<8xf32>
// expected-error @+1 {{expected a result with zero.binding = "loss"}}
func.func @step(%dw: tensor<8xf32>) -> tensor<8xf32> {
  %g = zero.gradient @w, %dw : tensor<8xf32> -> tensor<8xf32>
  return %g : tensor<8xf32>
}
