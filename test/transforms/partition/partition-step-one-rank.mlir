// ZeRO stage 3 on one rank: nothing is sharded, and the pass inserts no collective. The bucket has
// 192 elements only, because it needs no padding to a multiple of the ranks.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step | FileCheck %s

// The only rank stores all elements (shards 1).
// CHECK: zero.buffer parameter @bucket0 : tensor<192xf32> shards 1
// CHECK: zero.buffer optimizer @bucket0.m : tensor<192xf32> shards 1
zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<60xf32>
zero.state optimizer @v.m of @v : tensor<60xf32>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<100xf32>, %u: tensor<60xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<100xf32> {zero.binding = "y_loss"}, tensor<60xf32> {zero.binding = "z_loss"}) {
  %w = zero.read @w : tensor<100xf32>
  %v = zero.read @v : tensor<60xf32>
  // Forward reads the entire bucket; each parameter is a member of it.
  // CHECK: %[[F:.*]] = zero.read @bucket0 : tensor<192xf32>
  // CHECK-DAG: %[[W:.*]] = zero.member %[[F]] at 0 {{.*}} -> tensor<100xf32>
  // CHECK-DAG: %[[V:.*]] = zero.member %[[F]] at 128 {{.*}} -> tensor<60xf32>
  // CHECK: arith.mulf %{{.*}}, %[[W]]
  %y = arith.mulf %x, %w : tensor<100xf32>
  // CHECK-NOT: zero.all_gather
  // CHECK: arith.addf %{{.*}}, %[[V]]
  %z = arith.addf %u, %v : tensor<60xf32>
  // The loss of the only rank counts in full.
  // CHECK: arith.constant dense<1.000000e+00> : tensor<f32>
  %share = zero.rank_share : tensor<f32>
  // CHECK: %[[DW:.*]] = arith.subf %{{.*}}, %[[W]]
  %dw = arith.subf %y, %w : tensor<100xf32>
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  // CHECK: %[[DV:.*]] = arith.subf
  %dv = arith.subf %z, %v : tensor<60xf32>
  // The bucket of gradients is not reduced.
  // CHECK-NEXT: %[[G:.*]] = zero.bucket(%[[DW]], %[[DV]]) at [0, 128]
  %gv = zero.gradient @v, %dv : tensor<60xf32> -> tensor<60xf32>
  // CHECK-NOT: zero.all_reduce
  %mean = zero.rank_mean %l : tensor<f32>
  %lr = arith.addf %share, %share {zero.schedule = #zero.schedule<epilogue>} : tensor<f32>
  // One update reads the bucket of gradients directly.
  // CHECK: %[[P:.*]] = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[M:.*]] = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[U:.*]]:2 = zero.launch @update(%[[P]], %[[M]], %[[G]], %{{.*}})
  // CHECK: zero.write @bucket0.m, %[[U]]#1 {zero.schedule = #zero.schedule<epilogue>}
  zero.update @w [@w.m], %gw by @update(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>, (tensor<f32>)
  zero.update @v [@v.m], %gv by @update(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<60xf32>, (tensor<f32>)
  return %mean, %y, %z : tensor<f32>, tensor<100xf32>, tensor<60xf32>
}

func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>, %lr: tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {zero.kernel} {
  return %p, %m : tensor<?xf32>, tensor<?xf32>
}
