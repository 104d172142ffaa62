// What parameters that are sharded within nodes need.
// RUN: not zero-opt %s --zero-place-state="stage=2 ranks=4 ranks-per-node=2 shard-params=node" 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: expected stage 3 to shard parameters within nodes, got stage 2, at which each rank has all of them

// RUN: not zero-opt %s --zero-place-state="stage=3 ranks=4 shard-params=node" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: expected the number of ranks of a node to shard parameters within nodes, got 0

// RUN: not zero-opt %s --zero-place-state="stage=3 ranks=4 ranks-per-node=2 shard-params=node params=host" 2>&1 | FileCheck %s --check-prefix=TIER
// TIER: error: expected parameters on the device to shard them within nodes, got host

// RUN: not zero-opt %s --zero-place-state="stage=3 ranks=4 ranks-per-node=1 shard-params=node" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: expected nodes of all 2 ranks along tensor, or a multiple, to shard parameters within nodes, got 1

module attributes {zero.mesh = #zero.mesh<data = 4, tensor = 2>} {
  zero.parameter @w : tensor<8xf32>
}
