// Four micro-batches of bf16 gradients at stage 3 on one rank. Gradients are summed over micro-
// batches in an f32 accumulator; nothing is exchanged.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

module attributes {zero.micro_batches = 4 : i64} {
// Values that pass from one micro-batch to the next are in accumulators, not in optimizer state.
// CHECK: zero.buffer accumulator @micro_mean0 : tensor<1xf32> shards 1
// CHECK-NEXT: zero.buffer accumulator @micro_mean1 : tensor<1xf32> shards 1
// CHECK: zero.buffer accumulator @bucket0.gradient : tensor<192xf32> shards 1
zero.parameter @w : tensor<100xbf16>
zero.state optimizer @w.master of @w : tensor<100xf32>
zero.parameter @v : tensor<60xbf16>
zero.state optimizer @v.master of @v : tensor<60xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<100xbf16>, %dv: tensor<60xbf16>, %labels: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}, tensor<bf16> {zero.binding = "share"}) {
  // The prologue runs for every micro-batch before the first one. It averages what it computes
  // over micro-batches; ranks exchange the result in the last one.
  // CHECK: %[[C:.*]] = math.absf %{{.*}} {zero.schedule = #zero.schedule<prologue>}
  // CHECK: %[[CLIST:.*]] = tensor.expand_shape %[[C]] {{.*}}{zero.schedule = #zero.schedule<prologue>} : tensor<f32> into tensor<1xf32>
  // CHECK: %[[CSUM:.*]] = zero.read @micro_mean0 {zero.schedule = #zero.schedule<prologue>} : tensor<1xf32>
  // CHECK: %[[C0:.*]] = zero.launch @mean_first(%[[CSUM]], %[[CLIST]]) {zero.name = "micro_mean0", zero.schedule = #zero.schedule<prologue, first>}
  // CHECK: %[[C1:.*]] = zero.launch @mean_later(%[[C0]], %[[CLIST]]) {zero.name = "micro_mean0", zero.schedule = #zero.schedule<prologue, later>}
  // CHECK: %[[CMEAN:.*]] = tensor.collapse_shape %[[C1]] [] {zero.schedule = #zero.schedule<prologue>} : tensor<1xf32> into tensor<f32>
  %c = math.absf %labels {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %own = zero.micro_mean %c accumulate [@mean_first, @mean_later] {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %all = zero.rank_mean %own {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %w = zero.read @w : tensor<100xbf16>
  %v = zero.read @v : tensor<60xbf16>
  // The share of one loss in the mean: 1 / (ranks * micro-batches).
  // CHECK: arith.constant dense<2.500000e-01> : tensor<bf16>
  %share = zero.rank_share : tensor<bf16>
  // CHECK: %[[LOSS:.*]] = arith.divf %{{.*}}, %[[CMEAN]] : tensor<f32>
  %loss = arith.divf %labels, %all : tensor<f32>
  %ldw = arith.mulf %dw, %w : tensor<100xbf16>
  %ldv = arith.mulf %dv, %v : tensor<60xbf16>
  // CHECK: %[[B:.*]] = zero.bucket(%{{.*}}, %{{.*}}) at [0, 128]
  // CHECK-NEXT: %[[STORED:.*]] = zero.read @bucket0.gradient :
  // The accumulator has the full size at stage 1, but only the rank's slice of it is used.
  // CHECK-NEXT: %[[G0:.*]] = zero.launch @first(%[[STORED]], %[[B]])
  // CHECK-NEXT: %[[G:.*]] = zero.launch @later(%[[G0]], %[[B]])
  %gw = zero.gradient @w, %ldw accumulate [@first, @later] : tensor<100xbf16> -> tensor<100xf32>
  %gv = zero.gradient @v, %ldv accumulate [@first, @later] : tensor<60xbf16> -> tensor<60xf32>
  // The loss is averaged over micro-batches; the mean over ranks is taken after the last one.
  // CHECK: %[[LSUM:.*]] = zero.read @micro_mean1 : tensor<1xf32>
  // CHECK: %[[L0:.*]] = zero.launch @mean_first(%[[LSUM]], %{{.*}}) {zero.name = "micro_mean1", zero.schedule = #zero.schedule<micro_batch, first>}
  // CHECK: %[[L1:.*]] = zero.launch @mean_later(%[[L0]], %{{.*}}) {zero.name = "micro_mean1", zero.schedule = #zero.schedule<micro_batch, later>}
  // CHECK: %[[LOCAL:.*]] = tensor.collapse_shape %[[L1]]
  %local = zero.micro_mean %loss accumulate [@mean_first, @mean_later] : tensor<f32>
  %mean = zero.rank_mean %local : tensor<f32>
  // No collective: the update reads the sum over micro-batches.
  // CHECK-NOT: zero.all_reduce
  // CHECK: zero.launch @update(%{{.*}}, %{{.*}}, %[[G]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
  // Launches write the accumulator in place: there is no separate write.
  // CHECK-NOT: zero.write @bucket0.gradient
  zero.update @w [@w.master], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>
  zero.update @v [@v.master], %gv by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<60xf32>
  // CHECK: return %[[LOCAL]], %[[LOCAL]]
  return %mean, %local, %share : tensor<f32>, tensor<f32>, tensor<bf16>
}

func.func private @first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @update(%p: tensor<?xbf16> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xbf16>, tensor<?xf32>) attributes {zero.kernel}
}
