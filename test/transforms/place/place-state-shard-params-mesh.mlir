// Nodes of 4 ranks: 2 along `data` times the 2 along `tensor`, which stay inside a node.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 ranks-per-node=4 shard-params=node" | FileCheck %s

// CHECK: module attributes {zero.mesh = #zero.mesh<node = 2, local = 2, tensor = 2>, zero.ranks = 4 : i64, zero.ranks_per_node = 4 : i64, zero.stage = 3 : i64}
module attributes {zero.mesh = #zero.mesh<data = 4, tensor = 2>} {
  // CHECK: placement = #zero.placement<shard = [@local]>
  zero.parameter @w : tensor<8xf32>
}
