// ZeRO stage 1 on 4 ranks: optimizer states are sharded, parameters are replicated. The pass
// reduce-scatters the bucket's gradients in place, because the gradient buffer keeps its full size,
// updates the slice of the parameters that the rank owns, and gathers the new parameters into the
// entire bucket.
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s

// Parameters are replicated (shards 1); a rank stores a quarter of the optimizer states (shards 4).
// CHECK: zero.buffer parameter @bucket0 : tensor<256xf32> shards 1
// CHECK: zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 4
zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<60xf32>
zero.state optimizer @v.m of @v : tensor<60xf32>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<100xf32>, %u: tensor<60xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<100xf32> {zero.binding = "y_loss"}, tensor<60xf32> {zero.binding = "z_loss"}) {
  %w = zero.read @w : tensor<100xf32>
  %v = zero.read @v : tensor<60xf32>
  // Forward reads the entire bucket; each parameter is a member of it.
  // CHECK: %[[F:.*]] = zero.read @bucket0 : tensor<256xf32>
  // CHECK-DAG: %[[W:.*]] = zero.member %[[F]] at 0 {{.*}} -> tensor<100xf32>
  // CHECK-DAG: %[[V:.*]] = zero.member %[[F]] at 128 {{.*}} -> tensor<60xf32>
  // CHECK: arith.mulf %{{.*}}, %[[W]]
  %y = arith.mulf %x, %w : tensor<100xf32>
  // CHECK-NOT: zero.all_gather
  // CHECK: arith.addf %{{.*}}, %[[V]]
  %z = arith.addf %u, %v : tensor<60xf32>
  // The loss of a rank counts 1/ranks in the mean over all ranks.
  // CHECK: arith.constant dense<2.500000e-01> : tensor<f32>
  %share = zero.rank_share : tensor<f32>
  // CHECK: %[[DW:.*]] = arith.subf %{{.*}}, %[[W]]
  %dw = arith.subf %y, %w : tensor<100xf32>
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  // CHECK: %[[DV:.*]] = arith.subf
  %dv = arith.subf %z, %v : tensor<60xf32>
  // The gradients of the bucket are reduced as soon as the last one exists.
  // CHECK-NEXT: %[[G:.*]] = zero.bucket(%[[DW]], %[[DV]]) at [0, 128]
  // CHECK-NEXT: %[[R:.*]] = zero.reduce_scatter %[[G]] in_place {zero.name = "bucket0.gradient"} : (tensor<256xf32>) -> tensor<64xf32>
  %gv = zero.gradient @v, %dv : tensor<60xf32> -> tensor<60xf32>
  // CHECK: %[[MEAN:.*]] = zero.all_reduce %{{.*}} mean {zero.name = "mean over ranks"} : tensor<f32>
  %mean = zero.rank_mean %l : tensor<f32>
  %lr = arith.addf %share, %share {zero.schedule = #zero.schedule<epilogue>} : tensor<f32>
  // One update of the rank's slice; the new parameters are gathered in place.
  // CHECK: %[[P:.*]] = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[OWN:.*]] = zero.own_slice %[[P]] {zero.schedule = #zero.schedule<epilogue>} : (tensor<256xf32>) -> tensor<64xf32>
  // CHECK: %[[M:.*]] = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[U:.*]]:2 = zero.launch @update(%[[OWN]], %[[M]], %[[R]], %{{.*}})
  // CHECK: %[[ALL:.*]] = zero.all_gather %[[U]]#0 into %[[P]] {zero.name = "bucket0", zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<256xf32>) -> tensor<256xf32>
  // CHECK: zero.write @bucket0, %[[ALL]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.write @bucket0.m, %[[U]]#1 {zero.schedule = #zero.schedule<epilogue>}
  zero.update @w [@w.m], %gw by @update(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>, (tensor<f32>)
  zero.update @v [@v.m], %gv by @update(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<60xf32>, (tensor<f32>)
  // CHECK: return %[[MEAN]]
  return %mean, %y, %z : tensor<f32>, tensor<100xf32>, tensor<60xf32>
}

func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>, %lr: tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {zero.kernel} {
  return %p, %m : tensor<?xf32>, tensor<?xf32>
}
