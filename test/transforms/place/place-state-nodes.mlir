// The order of sums over ranks is a property of the program: each node of two ranks first.
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4 ranks-per-node=2" | FileCheck %s

// CHECK: module attributes {zero.ranks = 4 : i64, zero.ranks_per_node = 2 : i64, zero.stage = 2 : i64}
zero.parameter @w : tensor<8xf32>
