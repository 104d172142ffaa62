// The norm of a gradient, and a step that is scaled by norms: each rank sums the blocks of
// 64 elements that it holds, all exchange the sums, and every rank adds them up alike.
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,SLICE,OWN
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,SLICE,OWN
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=3 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,SLICE,STAGE3
// On one rank there is nothing to exchange.
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefix=ONE

// ONE-NOT: zero.all_gather
zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>
zero.parameter @u : tensor<7x5xf32>
zero.state optimizer @u.m of @u : tensor<7x5xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<100xf32>, %dv: tensor<8x8xf32>, %du: tensor<7x5xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}) {
  // What lies between tensors is read, too: zeros, of one constant as long as the longest gap.
  // CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<29xf32>
  // CHECK-NOT: arith.constant
  // CHECK-DAG: %[[Z0:.*]] = zero.member %[[ZEROS]] at 0 : (tensor<29xf32>) -> tensor<28xf32>
  // CHECK-DAG: %[[Z1:.*]] = zero.member %[[ZEROS]] at 0 : (tensor<29xf32>) -> tensor<29xf32>
  // CHECK: %[[B:.*]] = zero.bucket(%arg0, %arg1, %arg2, %[[Z0]], %[[Z1]]) at [0, 128, 192, 100, 227]
  // ALL: %[[G:.*]] = zero.all_reduce %[[B]]
  // SLICE: %[[G:.*]] = zero.reduce_scatter %[[B]]
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  %gv = zero.gradient @v, %dv : tensor<8x8xf32> -> tensor<8x8xf32>
  %gu = zero.gradient @u, %du : tensor<7x5xf32> -> tensor<7x5xf32>
  // ALL: %[[ROWS:.*]] = tensor.expand_shape %[[G]] {{\[\[}}0, 1]] output_shape [4, 64] {zero.schedule = #zero.schedule<epilogue>}
  // ALL: %[[SUMS:.*]] = zero.launch @square_blocks(%[[ROWS]]) {zero.name = "bucket0.norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<4x64xf32>) -> tensor<4xf32>
  // ALL-NOT: zero.all_gather
  // SLICE: %[[ROWS:.*]] = tensor.expand_shape %[[G]] {{\[\[}}0, 1]] output_shape [1, 64] {zero.schedule = #zero.schedule<epilogue>}
  // SLICE: %[[PART:.*]] = zero.launch @square_blocks(%[[ROWS]]) {zero.name = "bucket0.norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<1x64xf32>) -> tensor<1xf32>
  // SLICE: %[[SUMS:.*]] = zero.all_gather %[[PART]] control {zero.name = "bucket0.norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<1xf32>) -> tensor<4xf32>
  // One total for each tensor, over as many blocks as it has.
  // CHECK: %[[OFW:.*]] = zero.member %[[SUMS]] at 0 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: %[[W:.*]] = zero.launch @total(%[[OFW]]) {zero.name = "bucket0.norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<2xf32>) -> tensor<f64>
  // CHECK: %[[OFV:.*]] = zero.member %[[SUMS]] at 2 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[V:.*]] = zero.launch @total(%[[OFV]])
  // CHECK: %[[OFU:.*]] = zero.member %[[SUMS]] at 3 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[U:.*]] = zero.launch @total(%[[OFU]])
  // CHECK-NOT: zero.launch @total
  // CHECK: %[[WV:.*]] = arith.addf %[[W]], %[[V]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[SUM:.*]] = arith.addf %[[WV]], %[[U]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[OK:.*]] = arith.cmpf olt, %[[SUM]]
  %sw = zero.square_sum %gw by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<100xf32>) -> tensor<f64>
  %sv = zero.square_sum %gv by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<f64>
  %su = zero.square_sum %gu by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<7x5xf32>) -> tensor<f64>
  %wv = arith.addf %sw, %sv {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  %sum = arith.addf %wv, %su {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  %ok = arith.cmpf olt, %sum, %sum {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  // The update has the condition; writes need none, since what did not run left all in place.
  // CHECK: zero.launch @update(%{{.*}}, %{{.*}}, %[[G]]) if %[[OK]] {gradient = 2 : i64{{.*}}zero.schedule = #zero.schedule<epilogue>
  // OWN: zero.all_gather %{{.*}} into
  // CHECK: zero.write @bucket0, %{{[^ ]*}} {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.write @bucket0.m, %{{[^ ]*}} {zero.schedule = #zero.schedule<epilogue>}
  zero.update @w [@w.m], %gw by @update() if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>
  zero.update @v [@v.m], %gv by @update() if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<8x8xf32>
  zero.update @u [@u.m], %gu by @update() if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<7x5xf32>
  return %l, %sum : tensor<f32>, tensor<f64>
}
func.func private @square_blocks(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}

// -----

// A ratio of norms for each tensor: measure, exchange, rate each block, apply.
zero.parameter @w : tensor<100xbf16>
zero.state optimizer @w.master of @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<8x8xbf16>
zero.state optimizer @v.master of @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>

// CHECK-LABEL: func.func @step
// ONE-LABEL: func.func @step
func.func @step(%dw: tensor<100xbf16>, %dv: tensor<8x8xbf16>, %l: tensor<f32>, %ok: tensor<i1>) -> (tensor<f32> {zero.binding = "loss"}) {
  // Zeros here too, in the gradients' type.
  // CHECK: arith.constant dense<0.000000e+00> : tensor<64xbf16>
  // CHECK: %[[B:.*]] = zero.bucket(%arg0, %arg1, %{{.*}}, %{{.*}}) at [0, 128, 100, 192]
  // CHECK-NEXT: %[[G:.*]] = zero.{{all_reduce|reduce_scatter}} %[[B]]
  %gw = zero.gradient @w, %dw : tensor<100xbf16> -> tensor<100xbf16>
  %gv = zero.gradient @v, %dv : tensor<8x8xbf16> -> tensor<8x8xbf16>
  // CHECK: %[[STORED:.*]] = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>}
  // OWN: %[[P:.*]] = zero.own_slice %[[STORED]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[MASTER:.*]] = zero.read @bucket0.master {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[M:.*]] = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>}
  // ALL: %[[PB:.*]] = tensor.expand_shape %[[STORED]] {{.*}} into tensor<4x64xbf16>
  // OWN: %[[PB:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<1x64xbf16>
  // STAGE3: %[[PB:.*]] = tensor.expand_shape %[[STORED]] {{.*}} into tensor<1x64xbf16>
  // CHECK: %[[MASTERB:.*]] = tensor.expand_shape %[[MASTER]]
  // CHECK: %[[MB:.*]] = tensor.expand_shape %[[M]]
  // CHECK: %[[GB:.*]] = tensor.expand_shape %[[G]]
  // Measuring makes the states new: it has the condition, and is where gradients are found.
  // CHECK: %[[D:.*]]:3 = zero.launch @measure(%[[PB]], %[[MASTERB]], %[[MB]], %[[GB]], %{{.*}}) if %arg3 {gradient = 3 : i64, updates = @bucket0, zero.name = "bucket0.update", zero.schedule = #zero.schedule<epilogue>}
  // Totals of the parameters, then of the directions: all ranks compute them all.
  // SLICE: %[[SUMS:.*]] = zero.all_gather %[[D]]#1 control {zero.name = "bucket0.ratio", zero.schedule = #zero.schedule<epilogue>} : (tensor<1xf32>) -> tensor<4xf32>
  // ALL-NOT: zero.all_gather
  // ALL: %[[BLOCKW:.*]] = zero.member %[[D]]#1 at 0 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<2xf32>
  // SLICE: %[[BLOCKW:.*]] = zero.member %[[SUMS]] at 0 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: %[[W:.*]] = zero.launch @total(%[[BLOCKW]])
  // CHECK: %[[BLOCKV:.*]] = zero.member %{{.*}} at 2 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[V:.*]] = zero.launch @total(%[[BLOCKV]])
  // SLICE: zero.all_gather %[[D]]#2 control
  // CHECK: %[[DW:.*]] = zero.launch @total(
  // CHECK: %[[DV:.*]] = zero.launch @total(
  // CHECK: %[[RW:.*]] = zero.launch @ratio(%[[W]], %[[DW]], %[[BLOCKW]]) {zero.name = "bucket0.ratio", zero.schedule = #zero.schedule<epilogue>} : (tensor<f64>, tensor<f64>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[RV:.*]] = zero.launch @ratio(%[[V]], %[[DV]], %[[BLOCKV]]) {{.*}} -> tensor<1xf32>
  // CHECK: %[[RATIOS:.*]] = zero.bucket(%[[RW]], %[[RV]]) at [0, 2] {zero.schedule = #zero.schedule<epilogue>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<4xf32>
  // SLICE: %[[OWNRATIOS:.*]] = zero.own_slice %[[RATIOS]] {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<1xf32>
  // ALL: %[[U:.*]]:2 = zero.launch @apply(%[[PB]], %[[MASTERB]], %[[D]]#0, %[[RATIOS]], %{{.*}}) if %arg3 {zero.name = "bucket0.update", zero.schedule = #zero.schedule<epilogue>}
  // SLICE: %[[U:.*]]:2 = zero.launch @apply(%[[PB]], %[[MASTERB]], %[[D]]#0, %[[OWNRATIOS]], %{{.*}}) if %arg3
  // CHECK: %[[NEW:.*]] = tensor.collapse_shape %[[U]]#0
  // CHECK: %[[NEWMASTER:.*]] = tensor.collapse_shape %[[U]]#1
  // CHECK: %[[NEWM:.*]] = tensor.collapse_shape %[[D]]#0
  // OWN: %[[FULL:.*]] = zero.all_gather %[[NEW]] into %[[STORED]] {zero.name = "bucket0", zero.schedule = #zero.schedule<epilogue>}
  // OWN: zero.write @bucket0, %[[FULL]] {zero.schedule = #zero.schedule<epilogue>}
  // ALL: zero.write @bucket0, %[[NEW]] {zero.schedule = #zero.schedule<epilogue>}
  // STAGE3: zero.write @bucket0, %[[NEW]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.write @bucket0.master, %[[NEWMASTER]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.write @bucket0.m, %[[NEWM]] {zero.schedule = #zero.schedule<epilogue>}
  zero.update @w [@w.master, @w.m], %gw by @apply layerwise [@measure, @total, @ratio](%l) if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<100xbf16>, (tensor<f32>)
  zero.update @v [@v.master, @v.m], %gv by @apply layerwise [@measure, @total, @ratio](%l) if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<8x8xbf16>, (tensor<f32>)
  return %l : tensor<f32>
}
func.func private @measure(%p: tensor<?x64xbf16>, %master: tensor<?x64xf32>, %m: tensor<?x64xf32> {zero.inplace = 0 : i64},
                           %g: tensor<?x64xbf16>, %lr: tensor<f32>)
    -> (tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @ratio(%parameter: tensor<f64>, %direction: tensor<f64>, %blocks: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @apply(%p: tensor<?x64xbf16> {zero.inplace = 0 : i64}, %master: tensor<?x64xf32> {zero.inplace = 1 : i64},
                         %m: tensor<?x64xf32>, %ratios: tensor<?xf32>, %lr: tensor<f32>)
    -> (tensor<?x64xbf16>, tensor<?x64xf32>) attributes {zero.kernel}
