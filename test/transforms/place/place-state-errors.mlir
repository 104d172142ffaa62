// Options that zero-place-state does not accept.
// RUN: not zero-opt %s --zero-place-state="stage=4 ranks=4" 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: expected a ZeRO stage from 0 to 3, got 4

// RUN: not zero-opt %s --zero-place-state="stage=1 ranks=0" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: expected at least one rank, got 0

// RUN: not zero-opt %s --zero-place-state="stage=2 ranks=4 params=host" 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: expected stage 3 for parameters on host: offloaded parameters are sharded over ranks; got stage 2

// RUN: not zero-opt %s --zero-place-state="ranks=4 ranks-per-node=3" 2>&1 | FileCheck %s --check-prefix=NODE
// NODE: error: expected a divisor of 4 ranks as the ranks of a node, got 3

zero.parameter @w : tensor<8xf32>
zero.state optimizer @w.m of @w : tensor<8xf32>
zero.parameter @large : tensor<16xf32>
zero.parameter @frozen : tensor<8xf32> {frozen}
zero.state optimizer @power : tensor<f64>
zero.state constant @mask : tensor<8xi1>
