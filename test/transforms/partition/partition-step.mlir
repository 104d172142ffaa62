// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s --check-prefixes=CHECK,S0,FULL,FOUR
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s --check-prefixes=CHECK,S1,FULL,FOUR,SLICE
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s --check-prefixes=CHECK,S2,FULL,FOUR,SLICE
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s --check-prefixes=CHECK,S3,FOUR
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step | FileCheck %s --check-prefixes=CHECK,ONE

// One rank's storage: all of a bucket, or its slice.
// S0: zero.buffer parameter @bucket0 : tensor<256xf32> shards 1
// S0: zero.buffer optimizer @bucket0.m : tensor<256xf32> shards 1
// S1: zero.buffer parameter @bucket0 : tensor<256xf32> shards 1
// S1: zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 4
// S2: zero.buffer parameter @bucket0 : tensor<256xf32> shards 1
// S2: zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 4
// S3: zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
// S3: zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 4
// ONE: zero.buffer parameter @bucket0 : tensor<192xf32> shards 1
// ONE: zero.buffer optimizer @bucket0.m : tensor<192xf32> shards 1
zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<60xf32>
zero.state optimizer @v.m of @v : tensor<60xf32>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<100xf32>, %u: tensor<60xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<100xf32> {zero.binding = "y_loss"}, tensor<60xf32> {zero.binding = "z_loss"}) {
  %w = zero.read @w : tensor<100xf32>
  %v = zero.read @v : tensor<60xf32>
  // Forward. Stage 3 gathers before the first use; the others have it all.
  // FULL: %[[F:.*]] = zero.read @bucket0 : tensor<256xf32>
  // S3: %[[SHARD:.*]] = zero.read @bucket0 : tensor<64xf32>
  // S3: %[[F:.*]] = zero.all_gather %[[SHARD]] {zero.name = "bucket0"} : (tensor<64xf32>) -> tensor<256xf32>
  // ONE: %[[F:.*]] = zero.read @bucket0 : tensor<192xf32>
  // CHECK-DAG: %[[W:.*]] = zero.member %[[F]] at 0 {{.*}} -> tensor<100xf32>
  // CHECK-DAG: %[[V:.*]] = zero.member %[[F]] at 128 {{.*}} -> tensor<60xf32>
  // CHECK: arith.mulf %{{.*}}, %[[W]]
  %y = arith.mulf %x, %w : tensor<100xf32>
  // CHECK-NOT: zero.all_gather
  // CHECK: arith.addf %{{.*}}, %[[V]]
  %z = arith.addf %u, %v : tensor<60xf32>
  // The share of one rank in the loss.
  // FOUR: arith.constant dense<2.500000e-01> : tensor<f32>
  // ONE: arith.constant dense<1.000000e+00> : tensor<f32>
  %share = zero.rank_share : tensor<f32>
  // Backward gathers again; nobody else does.
  // S3: %[[SHARD2:.*]] = zero.read @bucket0 : tensor<64xf32>
  // S3: %[[F2:.*]] = zero.all_gather %[[SHARD2]]
  // S3: %[[W2:.*]] = zero.member %[[F2]] at 0
  // S3: %[[V2:.*]] = zero.member %[[F2]] at 128
  // S3: %[[DW:.*]] = arith.subf %{{.*}}, %[[W2]]
  // FULL: %[[DW:.*]] = arith.subf %{{.*}}, %[[W]]
  // ONE: %[[DW:.*]] = arith.subf %{{.*}}, %[[W]]
  %dw = arith.subf %y, %w : tensor<100xf32>
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  // CHECK: %[[DV:.*]] = arith.subf
  %dv = arith.subf %z, %v : tensor<60xf32>
  // Reduced as soon as the last gradient of the bucket is there.
  // CHECK-NEXT: %[[G:.*]] = zero.bucket(%[[DW]], %[[DV]]) at [0, 128]
  // S0-NEXT: %[[R:.*]] = zero.all_reduce %[[G]] {zero.name = "bucket0.gradient"} : tensor<256xf32>
  // S1-NEXT: %[[R:.*]] = zero.reduce_scatter %[[G]] in_place {zero.name = "bucket0.gradient"} : (tensor<256xf32>) -> tensor<64xf32>
  // S2-NEXT: %[[R:.*]] = zero.reduce_scatter %[[G]] {zero.name = "bucket0.gradient"} : (tensor<256xf32>) -> tensor<64xf32>
  // S3-NEXT: %[[R:.*]] = zero.reduce_scatter %[[G]] {zero.name = "bucket0.gradient"} : (tensor<256xf32>) -> tensor<64xf32>
  %gv = zero.gradient @v, %dv : tensor<60xf32> -> tensor<60xf32>
  // FOUR: %[[MEAN:.*]] = zero.all_reduce %{{.*}} mean {zero.name = "mean over ranks"} : tensor<f32>
  // ONE-NOT: zero.all_reduce
  %mean = zero.rank_mean %l : tensor<f32>
  %lr = arith.addf %share, %share {zero.schedule = #zero.schedule<epilogue>} : tensor<f32>
  // One update of the rank's part; where parameters are whole, they are gathered in place.
  // CHECK: %[[P:.*]] = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>}
  // SLICE: %[[OWN:.*]] = zero.own_slice %[[P]] {zero.schedule = #zero.schedule<epilogue>} : (tensor<256xf32>) -> tensor<64xf32>
  // CHECK: %[[M:.*]] = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>}
  // S0: %[[U:.*]]:2 = zero.launch @update(%[[P]], %[[M]], %[[R]], %{{.*}}) {gradient = 2 : i64, updates = @bucket0, zero.name = "bucket0.update", zero.schedule = #zero.schedule<epilogue>}
  // SLICE: %[[U:.*]]:2 = zero.launch @update(%[[OWN]], %[[M]], %[[R]], %{{.*}})
  // S3: %[[U:.*]]:2 = zero.launch @update(%[[P]], %[[M]], %[[R]], %{{.*}})
  // ONE: %[[U:.*]]:2 = zero.launch @update(%[[P]], %[[M]], %[[G]], %{{.*}})
  // SLICE: %[[ALL:.*]] = zero.all_gather %[[U]]#0 into %[[P]] {zero.name = "bucket0", zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<256xf32>) -> tensor<256xf32>
  // SLICE: zero.write @bucket0, %[[ALL]] {zero.schedule = #zero.schedule<epilogue>}
  // S0: zero.write @bucket0, %[[U]]#0 {zero.schedule = #zero.schedule<epilogue>}
  // S3: zero.write @bucket0, %[[U]]#0 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.write @bucket0.m, %[[U]]#1 {zero.schedule = #zero.schedule<epilogue>}
  zero.update @w [@w.m], %gw by @update(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>, (tensor<f32>)
  zero.update @v [@v.m], %gv by @update(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<60xf32>, (tensor<f32>)
  // FOUR: return %[[MEAN]]
  return %mean, %y, %z : tensor<f32>, tensor<100xf32>, tensor<60xf32>
}

func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>, %lr: tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {zero.kernel} {
  return %p, %m : tensor<?xf32>, tensor<?xf32>
}
