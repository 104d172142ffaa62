// ZeRO stage 3 on 4 ranks in nodes of 2, with parameters sharded within nodes: gathers exchange with
// the ranks of a node (`local`) only. Gradients are reduced over all ranks. Slices are cut along
// `local` first, so a rank updates one of the two slices of its part of the parameters, and gets the
// other one from the rank at its place of the other node.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 ranks-per-node=2 shard-params=node" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

// CHECK: zero.buffer parameter @bucket0 : tensor<128xf32> shards 2
// CHECK: zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 4
zero.parameter @w : tensor<200xf32>
zero.state optimizer @w.m of @w : tensor<200xf32>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<200xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<200xf32>
  // CHECK: %[[SHARD:.*]] = zero.read @bucket0 : tensor<128xf32>
  // CHECK: %[[F:.*]] = zero.all_gather %[[SHARD]] over <[@local]> {zero.name = "bucket0"} : (tensor<128xf32>) -> tensor<256xf32>
  // CHECK: zero.member %[[F]] at 0
  %y = arith.mulf %x, %w : tensor<200xf32>
  %dw = arith.subf %y, %x : tensor<200xf32>
  // CHECK: %[[G:.*]] = zero.bucket(%{{.*}}) at [0]
  // CHECK: %[[R:.*]] = zero.reduce_scatter %[[G]] over <[@local, @node]> {zero.name = "bucket0.gradient"} : (tensor<256xf32>) -> tensor<64xf32>
  %gw = zero.gradient @w, %dw : tensor<200xf32> -> tensor<200xf32>
  // The loss is a mean over all ranks.
  // CHECK: zero.all_reduce %{{.*}} mean {zero.name = "mean over ranks"}
  %mean = zero.rank_mean %l : tensor<f32>
  // CHECK: %[[P:.*]] = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>} : tensor<128xf32>
  // CHECK: %[[OWN:.*]] = zero.own_slice %[[P]] over <[@node]> {{.*}} : (tensor<128xf32>) -> tensor<64xf32>
  // CHECK: %[[M:.*]] = zero.read @bucket0.m {{.*}} : tensor<64xf32>
  // CHECK: %[[U:.*]]:2 = zero.launch @update(%[[OWN]], %[[M]], %[[R]])
  // CHECK: %[[NEW:.*]] = zero.all_gather %[[U]]#0 into %[[P]] over <[@node]> {{.*}} : (tensor<64xf32>, tensor<128xf32>) -> tensor<128xf32>
  // CHECK: zero.write @bucket0, %[[NEW]]
  // CHECK: zero.write @bucket0.m, %[[U]]#1
  zero.update @w [@w.m], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<200xf32>
  return %mean : tensor<f32>
}

func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
