// Stage 3 on 4 ranks in nodes of 2, with parameters sharded within nodes. The axis `data` becomes
// `node` and `local`. Parameters are sharded over the ranks of a node, gradients and optimizer states
// over all ranks: along `local` first, so that a rank updates part of its slice of the parameters.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 ranks-per-node=2 shard-params=node" | FileCheck %s

// CHECK: module attributes {zero.mesh = #zero.mesh<node = 2, local = 2>, zero.ranks = 4 : i64, zero.ranks_per_node = 2 : i64, zero.stage = 3 : i64}

// CHECK: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@local, @node]>, placement = #zero.placement<shard = [@local]>}
zero.parameter @w : tensor<8xf32>
// CHECK: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@local, @node]>}
zero.state optimizer @w.m of @w : tensor<8xf32>
// CHECK: zero.parameter @frozen : tensor<8xf32> {frozen, placement = #zero.placement<shard = [@local]>}
zero.parameter @frozen : tensor<8xf32> {frozen}
// CHECK: zero.state optimizer @power : tensor<f64> {placement = #zero.placement<>}
zero.state optimizer @power : tensor<f64>
