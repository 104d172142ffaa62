// Stage 3 with persist-under=33: a parameter of less than 33 bytes is not sharded, because
// gathering it costs more than it saves. Its gradient still is.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 persist-under=33" | FileCheck %s

// CHECK: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@data]>, placement = #zero.placement<>}
zero.parameter @w : tensor<8xf32>
zero.state optimizer @w.m of @w : tensor<8xf32>
zero.parameter @large : tensor<16xf32>
zero.parameter @frozen : tensor<8xf32> {frozen}
// Scalars of the optimizer and constants are replicated on every rank.
// CHECK: zero.state optimizer @power : tensor<f64> {placement = #zero.placement<>}
zero.state optimizer @power : tensor<f64>
// CHECK: zero.state constant @mask : tensor<8xi1> {placement = #zero.placement<>}
zero.state constant @mask : tensor<8xi1>
