// A layerwise update (LAMB): the step of each tensor is scaled by a ratio of norms. The update
// becomes a launch that measures blocks, launches that add up the block sums of each tensor and
// compute its ratio, and a launch that applies. At stages 1 and 2 a rank holds a slice of the
// gradients: the block sums are gathered. The parameters are replicated, so the update works on the
// rank's slice of them.
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

zero.parameter @w : tensor<100xbf16>
zero.state optimizer @w.master of @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<8x8xbf16>
zero.state optimizer @v.master of @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<100xbf16>, %dv: tensor<8x8xbf16>, %l: tensor<f32>, %ok: tensor<i1>) -> (tensor<f32> {zero.binding = "loss"}) {
  // The gaps are filled with zeros of the gradients' type.
  // CHECK: arith.constant dense<0.000000e+00> : tensor<64xbf16>
  // CHECK: %[[B:.*]] = zero.bucket(%arg0, %arg1, %{{.*}}, %{{.*}}) at [0, 128, 100, 192]
  // CHECK-NEXT: %[[G:.*]] = zero.{{all_reduce|reduce_scatter}} %[[B]]
  %gw = zero.gradient @w, %dw : tensor<100xbf16> -> tensor<100xbf16>
  %gv = zero.gradient @v, %dv : tensor<8x8xbf16> -> tensor<8x8xbf16>
  // CHECK: %[[STORED:.*]] = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[P:.*]] = zero.own_slice %[[STORED]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[MASTER:.*]] = zero.read @bucket0.master {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[M:.*]] = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[PB:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<1x64xbf16>
  // CHECK: %[[MASTERB:.*]] = tensor.expand_shape %[[MASTER]]
  // CHECK: %[[MB:.*]] = tensor.expand_shape %[[M]]
  // CHECK: %[[GB:.*]] = tensor.expand_shape %[[G]]
  // The measuring launch writes the states: it is conditional, and it is the op that is marked
  // with its gradient operand.
  // CHECK: %[[D:.*]]:3 = zero.launch @measure(%[[PB]], %[[MASTERB]], %[[MB]], %[[GB]], %{{.*}}) if %arg3 {gradient = 3 : i64, updates = @bucket0, zero.name = "bucket0.update", zero.schedule = #zero.schedule<epilogue>}
  // Totals of the parameters, then of the directions. Every rank computes all of them.
  // CHECK: %[[SUMS:.*]] = zero.all_gather %[[D]]#1 control {zero.name = "bucket0.ratio", zero.schedule = #zero.schedule<epilogue>} : (tensor<1xf32>) -> tensor<4xf32>
  // CHECK: %[[BLOCKW:.*]] = zero.member %[[SUMS]] at 0 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: %[[W:.*]] = zero.launch @total(%[[BLOCKW]])
  // CHECK: %[[BLOCKV:.*]] = zero.member %{{.*}} at 2 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[V:.*]] = zero.launch @total(%[[BLOCKV]])
  // CHECK: zero.all_gather %[[D]]#2 control
  // CHECK: %[[DW:.*]] = zero.launch @total(
  // CHECK: %[[DV:.*]] = zero.launch @total(
  // CHECK: %[[RW:.*]] = zero.launch @ratio(%[[W]], %[[DW]], %[[BLOCKW]]) {zero.name = "bucket0.ratio", zero.schedule = #zero.schedule<epilogue>} : (tensor<f64>, tensor<f64>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[RV:.*]] = zero.launch @ratio(%[[V]], %[[DV]], %[[BLOCKV]]) {{.*}} -> tensor<1xf32>
  // CHECK: %[[RATIOS:.*]] = zero.bucket(%[[RW]], %[[RV]]) at [0, 2] {zero.schedule = #zero.schedule<epilogue>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK: %[[OWNRATIOS:.*]] = zero.own_slice %[[RATIOS]] {zero.schedule = #zero.schedule<epilogue>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: %[[U:.*]]:2 = zero.launch @apply(%[[PB]], %[[MASTERB]], %[[D]]#0, %[[OWNRATIOS]], %{{.*}}) if %arg3
  // CHECK: %[[NEW:.*]] = tensor.collapse_shape %[[U]]#0
  // CHECK: %[[NEWMASTER:.*]] = tensor.collapse_shape %[[U]]#1
  // CHECK: %[[NEWM:.*]] = tensor.collapse_shape %[[D]]#0
  // CHECK: %[[FULL:.*]] = zero.all_gather %[[NEW]] into %[[STORED]] {zero.name = "bucket0", zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.write @bucket0, %[[FULL]] {zero.schedule = #zero.schedule<epilogue>}
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
