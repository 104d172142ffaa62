// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" | FileCheck %s --check-prefixes=CHECK,S0
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" | FileCheck %s --check-prefixes=CHECK,S1
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" | FileCheck %s --check-prefixes=CHECK,S2
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4" | FileCheck %s --check-prefixes=CHECK,S3
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 persist-under=33" | FileCheck %s --check-prefixes=CHECK,PERSIST
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 params=nvme gradients=host optimizer=nvme persist-under=33" | FileCheck %s --check-prefix=TIERS
// RUN: not zero-opt %s --zero-place-state="stage=2 ranks=4 params=host" 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not zero-opt %s --zero-place-state="stage=4 ranks=4" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not zero-opt %s --zero-place-state="stage=1 ranks=0" 2>&1 | FileCheck %s --check-prefix=RANKS

// STAGE: error: expected a ZeRO stage from 0 to 3, got 4
// RANKS: error: expected at least one rank, got 0

// S0: module attributes {zero.ranks = 4 : i64, zero.stage = 0 : i64}
// S3: module attributes {zero.ranks = 4 : i64, zero.stage = 3 : i64}

// Stage 1 shards optimizer state, 2 gradients too, 3 parameters too.
// S0: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<>, placement = #zero.placement<>}
// S1: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<>, placement = #zero.placement<>}
// S2: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@dp]>, placement = #zero.placement<>}
// S3: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@dp]>, placement = #zero.placement<shard = [@dp]>}
// Where 32 bytes are few, only the parameter itself stays whole.
// PERSIST: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@dp]>, placement = #zero.placement<>}
// What stays whole stays on the device, its gradient and its state go.
// WHOLE: error: expected stage 3 for parameters on host: offloaded parameters are sharded over ranks; got stage 2
// TIERS: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@dp], tier = host>, placement = #zero.placement<>}
// TIERS: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@dp], tier = nvme>}
// TIERS: zero.parameter @large : tensor<16xf32> {{.*}}placement = #zero.placement<shard = [@dp], tier = nvme>}
// TIERS: zero.state optimizer @power : tensor<f64> {placement = #zero.placement<>}
zero.parameter @w : tensor<8xf32>
// S0: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<>}
// S1: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@dp]>}
// S2: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@dp]>}
// S3: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@dp]>}
zero.state optimizer @w.m of @w : tensor<8xf32>
zero.parameter @large : tensor<16xf32>
// A frozen parameter has no gradient to place.
// S2: zero.parameter @frozen : tensor<8xf32> {frozen, placement = #zero.placement<>}
// S3: zero.parameter @frozen : tensor<8xf32> {frozen, placement = #zero.placement<shard = [@dp]>}
zero.parameter @frozen : tensor<8xf32> {frozen}
// Program scalars and constants are on every rank.
// CHECK: zero.state optimizer @power : tensor<f64> {placement = #zero.placement<>}
zero.state optimizer @power : tensor<f64>
// CHECK: zero.state constant @mask : tensor<8xi1> {placement = #zero.placement<>}
zero.state constant @mask : tensor<8xi1>
