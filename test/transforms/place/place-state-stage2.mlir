// Stage 2 on 4 ranks: optimizer states and gradients are sharded, parameters are replicated. The
// pass writes placements only.
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" | FileCheck %s

// CHECK: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@data]>, placement = #zero.placement<>}
zero.parameter @w : tensor<8xf32>
// CHECK: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@data]>}
zero.state optimizer @w.m of @w : tensor<8xf32>
zero.parameter @large : tensor<16xf32>
// A frozen parameter has no gradient to place.
// CHECK: zero.parameter @frozen : tensor<8xf32> {frozen, placement = #zero.placement<>}
zero.parameter @frozen : tensor<8xf32> {frozen}
// Scalars of the optimizer and constants are replicated on every rank.
// CHECK: zero.state optimizer @power : tensor<f64> {placement = #zero.placement<>}
zero.state optimizer @power : tensor<f64>
// CHECK: zero.state constant @mask : tensor<8xi1> {placement = #zero.placement<>}
zero.state constant @mask : tensor<8xi1>
