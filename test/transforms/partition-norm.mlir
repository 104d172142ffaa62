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

// CHECK-LABEL: func.func @clip
func.func @clip(%dw: tensor<100xf32>, %dv: tensor<8x8xf32>, %du: tensor<7x5xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}) attributes {zero.step} {
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
  // ALL: %[[ROWS:.*]] = tensor.expand_shape %[[G]] {{\[\[}}0, 1]] output_shape [4, 64] {zero.epilogue}
  // ALL: %[[SUMS:.*]] = zero.launch @square_blocks(%[[ROWS]]) {zero.epilogue, zero.name = "bucket0.norm"} : (tensor<4x64xf32>) -> tensor<4xf32>
  // ALL-NOT: zero.all_gather
  // SLICE: %[[ROWS:.*]] = tensor.expand_shape %[[G]] {{\[\[}}0, 1]] output_shape [1, 64] {zero.epilogue}
  // SLICE: %[[PART:.*]] = zero.launch @square_blocks(%[[ROWS]]) {zero.epilogue, zero.name = "bucket0.norm"} : (tensor<1x64xf32>) -> tensor<1xf32>
  // SLICE: %[[SUMS:.*]] = zero.all_gather %[[PART]] control {zero.epilogue, zero.name = "bucket0.norm"} : (tensor<1xf32>) -> tensor<4xf32>
  // One total for each tensor, over as many blocks as it has.
  // CHECK: %[[OFW:.*]] = zero.member %[[SUMS]] at 0 {zero.epilogue} : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: %[[W:.*]] = zero.launch @total(%[[OFW]]) {zero.epilogue, zero.name = "bucket0.norm"} : (tensor<2xf32>) -> tensor<f64>
  // CHECK: %[[OFV:.*]] = zero.member %[[SUMS]] at 2 {zero.epilogue} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[V:.*]] = zero.launch @total(%[[OFV]])
  // CHECK: %[[OFU:.*]] = zero.member %[[SUMS]] at 3 {zero.epilogue} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[U:.*]] = zero.launch @total(%[[OFU]])
  // CHECK-NOT: zero.launch @total
  // CHECK: %[[WV:.*]] = arith.addf %[[W]], %[[V]] {zero.epilogue}
  // CHECK: %[[SUM:.*]] = arith.addf %[[WV]], %[[U]] {zero.epilogue}
  // CHECK: %[[OK:.*]] = arith.cmpf olt, %[[SUM]]
  %sw = zero.square_sum %gw by [@square_blocks, @total] {zero.epilogue} : (tensor<100xf32>) -> tensor<f64>
  %sv = zero.square_sum %gv by [@square_blocks, @total] {zero.epilogue} : (tensor<8x8xf32>) -> tensor<f64>
  %su = zero.square_sum %gu by [@square_blocks, @total] {zero.epilogue} : (tensor<7x5xf32>) -> tensor<f64>
  %wv = arith.addf %sw, %sv {zero.epilogue} : tensor<f64>
  %sum = arith.addf %wv, %su {zero.epilogue} : tensor<f64>
  %ok = arith.cmpf olt, %sum, %sum {zero.epilogue} : tensor<f64>
  // The update has the condition; writes need none, since what did not run left all in place.
  // CHECK: zero.launch @update(%{{.*}}, %{{.*}}, %[[G]]) if %[[OK]] {zero.epilogue, zero.gradient = 2 : i64
  // OWN: zero.all_gather %{{.*}} into
  // CHECK: zero.write @bucket0, %{{[^ ]*}} {zero.epilogue}
  // CHECK: zero.write @bucket0.m, %{{[^ ]*}} {zero.epilogue}
  zero.update @w [@w.m], %gw by @update() if %ok {zero.epilogue} : tensor<100xf32>
  zero.update @v [@v.m], %gv by @update() if %ok {zero.epilogue} : tensor<8x8xf32>
  zero.update @u [@u.m], %gu by @update() if %ok {zero.epilogue} : tensor<7x5xf32>
  return %l, %sum : tensor<f32>, tensor<f64>
}
func.func private @square_blocks(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
