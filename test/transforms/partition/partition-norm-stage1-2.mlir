// The sum of squares of gradients (zero.square_sum), for the global norm. Each rank sums the
// squares of the blocks of 64 elements that it holds and every rank adds up all block sums in the
// same order, so that the result is bitwise identical on all ranks. At stages 1 and 2 a rank holds
// a slice of the gradients: the block sums are gathered. The parameters are replicated, so the
// update works on the rank's slice of them.
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>
zero.parameter @u : tensor<7x5xf32>
zero.state optimizer @u.m of @u : tensor<7x5xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<100xf32>, %dv: tensor<8x8xf32>, %du: tensor<7x5xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}) {
  // The gaps between members are read, too: they are filled with zeros from one constant of the
  // longest gap's length.
  // CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<29xf32>
  // CHECK-NOT: arith.constant
  // CHECK-DAG: %[[Z0:.*]] = zero.member %[[ZEROS]] at 0 : (tensor<29xf32>) -> tensor<28xf32>
  // CHECK-DAG: %[[Z1:.*]] = zero.member %[[ZEROS]] at 0 : (tensor<29xf32>) -> tensor<29xf32>
  // CHECK: %[[B:.*]] = zero.bucket(%arg0, %arg1, %arg2, %[[Z0]], %[[Z1]]) at [0, 128, 192, 100, 227]
  // CHECK: %[[G:.*]] = zero.reduce_scatter %[[B]]
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  %gv = zero.gradient @v, %dv : tensor<8x8xf32> -> tensor<8x8xf32>
  %gu = zero.gradient @u, %du : tensor<7x5xf32> -> tensor<7x5xf32>
  // CHECK: %[[ROWS:.*]] = tensor.expand_shape %[[G]] {{\[\[}}0, 1]] output_shape [1, 64] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[PART:.*]] = zero.launch @square_blocks(%[[ROWS]]) {zero.name = "bucket0.norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<1x64xf32>) -> tensor<1xf32>
  // CHECK: %[[SUMS:.*]] = zero.all_gather %[[PART]] control {zero.name = "bucket0.norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<1xf32>) -> tensor<4xf32>
  // One total for each tensor, over its own blocks.
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
  // The update is conditional. The writes are not: a launch that does not run leaves its operands
  // in place.
  // CHECK: zero.launch @update(%{{.*}}, %{{.*}}, %[[G]]) if %[[OK]] {gradient = 2 : i64{{.*}}zero.schedule = #zero.schedule<epilogue>
  // CHECK: zero.all_gather %{{.*}} into
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
