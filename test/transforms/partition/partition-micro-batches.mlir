// Several micro-batches: gradients add up in f32 in an accumulator. Stages 0 and 1 reduce
// the sum once, after the last micro-batch; where gradients are slices, and with
// reduce-each, every micro-batch reduces its own in 16 bits before it adds them.
// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,WHOLE,LAST,S0,S0LAST
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,WHOLE,LAST,S1,S1LAST
// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-each=true --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,WHOLE,EACH,S0,S0EACH
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-each=true --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,WHOLE,EACH,S1,S1EACH
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,EACH,SLICE,S2
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,EACH,SLICE,S3
// At stages 2 and 3 there is nothing to choose.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-each=true --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,FOUR,EACH,SLICE,S3
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,ONE
// What is added in 16 bits, and what is not: a sum of f32 has no other arithmetic.
// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step="reduce-each=true reduce-in-f32=false" | FileCheck %s --check-prefix=NARROW
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-in-f32=false | FileCheck %s --check-prefix=NARROW
// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-in-f32=false | FileCheck %s --check-prefix=NARROW

module attributes {zero.micro_batches = 4 : i64} {
// Nothing of what goes from one micro-batch to the next is optimizer state.
// CHECK: zero.buffer accumulator @micro_mean0 : tensor<1xf32> shards 1
// CHECK-NEXT: zero.buffer accumulator @micro_mean1 : tensor<1xf32> shards 1
// S2: zero.buffer parameter @bucket0 : tensor<256xbf16> shards 1
// S3: zero.buffer parameter @bucket0 : tensor<64xbf16> shards 4
// S0: zero.buffer optimizer @bucket0.master : tensor<256xf32> shards 1
// S1: zero.buffer optimizer @bucket0.master : tensor<64xf32> shards 4
// WHOLE-NEXT: zero.buffer accumulator @bucket0.gradient : tensor<256xf32> shards 1
// SLICE: zero.buffer accumulator @bucket0.gradient : tensor<64xf32> shards 4
// ONE: zero.buffer accumulator @bucket0.gradient : tensor<192xf32> shards 1
zero.parameter @w : tensor<100xbf16>
zero.state optimizer @w.master of @w : tensor<100xf32>
zero.parameter @v : tensor<60xbf16>
zero.state optimizer @v.master of @v : tensor<60xf32>

// CHECK-LABEL: func.func @step
// NARROW-LABEL: func.func @step
// NARROW-NOT: in f32
func.func @step(%dw: tensor<100xbf16>, %dv: tensor<60xbf16>, %labels: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}, tensor<bf16> {zero.binding = "share"}) {
  // Known before the first micro-batch: a prologue for each, ranks meet in the last.
  // CHECK: %[[C:.*]] = math.absf %{{.*}} {zero.schedule = #zero.schedule<prologue>}
  // CHECK: %[[CLIST:.*]] = tensor.expand_shape %[[C]] {{.*}}{zero.schedule = #zero.schedule<prologue>} : tensor<f32> into tensor<1xf32>
  // CHECK: %[[CSUM:.*]] = zero.read @micro_mean0 {zero.schedule = #zero.schedule<prologue>} : tensor<1xf32>
  // CHECK: %[[C0:.*]] = zero.launch @mean_first(%[[CSUM]], %[[CLIST]]) {zero.name = "micro_mean0", zero.schedule = #zero.schedule<prologue, first>}
  // CHECK: %[[C1:.*]] = zero.launch @mean_later(%[[C0]], %[[CLIST]]) {zero.name = "micro_mean0", zero.schedule = #zero.schedule<prologue, later>}
  // CHECK: %[[CMEAN:.*]] = tensor.collapse_shape %[[C1]] [] {zero.schedule = #zero.schedule<prologue>} : tensor<1xf32> into tensor<f32>
  // FOUR: %[[N:.*]] = zero.all_reduce %[[CMEAN]] mean {zero.name = "mean over ranks", zero.schedule = #zero.schedule<prologue, last>} : tensor<f32>
  %c = math.absf %labels {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %own = zero.micro_mean %c accumulate [@mean_first, @mean_later] {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %all = zero.rank_mean %own {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %w = zero.read @w : tensor<100xbf16>
  %v = zero.read @v : tensor<60xbf16>
  // One over ranks times micro-batches.
  // FOUR: arith.constant dense<6.250000e-02> : tensor<bf16>
  // ONE: arith.constant dense<2.500000e-01> : tensor<bf16>
  %share = zero.rank_share : tensor<bf16>
  // FOUR: %[[LOSS:.*]] = arith.divf %{{.*}}, %[[N]] : tensor<f32>
  // ONE: %[[LOSS:.*]] = arith.divf %{{.*}}, %[[CMEAN]] : tensor<f32>
  %loss = arith.divf %labels, %all : tensor<f32>
  %ldw = arith.mulf %dw, %w : tensor<100xbf16>
  %ldv = arith.mulf %dv, %v : tensor<60xbf16>
  // CHECK: %[[B:.*]] = zero.bucket(%{{.*}}, %{{.*}}) at [0, 128]
  // S0EACH-NEXT: %[[OWN:.*]] = zero.all_reduce %[[B]] in f32 {zero.name = "bucket0.gradient"} : tensor<256xbf16>
  // S1EACH-NEXT: %[[OWN:.*]] = zero.reduce_scatter %[[B]] in_place in f32 {zero.name = "bucket0.gradient"} : (tensor<256xbf16>) -> tensor<64xbf16>
  // SLICE-NEXT: %[[OWN:.*]] = zero.reduce_scatter %[[B]] in f32 {zero.name = "bucket0.gradient"} : (tensor<256xbf16>) -> tensor<64xbf16>
  // CHECK-NEXT: %[[STORED:.*]] = zero.read @bucket0.gradient :
  // At stage 1 a whole accumulator of which only the rank's part is used.
  // S1EACH-NEXT: %[[PART:.*]] = zero.own_slice %[[STORED]] : (tensor<256xf32>) -> tensor<64xf32>
  // LAST-NEXT: %[[G0:.*]] = zero.launch @first(%[[STORED]], %[[B]]) {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, first>} : (tensor<256xf32>, tensor<256xbf16>) -> tensor<256xf32>
  // LAST-NEXT: %[[G:.*]] = zero.launch @later(%[[G0]], %[[B]]) {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, later>}
  // S0EACH-NEXT: %[[G0:.*]] = zero.launch @first(%[[STORED]], %[[OWN]]) {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, first>}
  // S1EACH-NEXT: %[[G0:.*]] = zero.launch @first(%[[PART]], %[[OWN]]) {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, first>}
  // SLICE-NEXT: %[[G0:.*]] = zero.launch @first(%[[STORED]], %[[OWN]]) {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, first>} : (tensor<64xf32>, tensor<64xbf16>) -> tensor<64xf32>
  // EACH-NEXT: %[[G:.*]] = zero.launch @later(%[[G0]], %[[OWN]]) {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, later>}
  // ONE-NEXT: %[[G0:.*]] = zero.launch @first(%[[STORED]], %[[B]])
  // ONE-NEXT: %[[G:.*]] = zero.launch @later(%[[G0]], %[[B]])
  %gw = zero.gradient @w, %ldw accumulate [@first, @later] : tensor<100xbf16> -> tensor<100xf32>
  %gv = zero.gradient @v, %ldv accumulate [@first, @later] : tensor<60xbf16> -> tensor<60xf32>
  // The loss: only the last of the sums so far leaves the step.
  // CHECK: %[[LSUM:.*]] = zero.read @micro_mean1 : tensor<1xf32>
  // CHECK: %[[L0:.*]] = zero.launch @mean_first(%[[LSUM]], %{{.*}}) {zero.name = "micro_mean1", zero.schedule = #zero.schedule<micro_batch, first>}
  // CHECK: %[[L1:.*]] = zero.launch @mean_later(%[[L0]], %{{.*}}) {zero.name = "micro_mean1", zero.schedule = #zero.schedule<micro_batch, later>}
  // CHECK: %[[LOCAL:.*]] = tensor.collapse_shape %[[L1]]
  // FOUR: %[[MEAN:.*]] = zero.all_reduce %[[LOCAL]] mean {zero.name = "mean over ranks", zero.schedule = #zero.schedule<micro_batch, last>} : tensor<f32>
  %local = zero.micro_mean %loss accumulate [@mean_first, @mean_later] : tensor<f32>
  %mean = zero.rank_mean %local : tensor<f32>
  // The sum over micro-batches is f32 and stays so.
  // S0LAST-NEXT: %[[SUM:.*]] = zero.all_reduce %[[G]] {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, last>} : tensor<256xf32>
  // S1LAST-NEXT: %[[SUM:.*]] = zero.reduce_scatter %[[G]] in_place {zero.name = "bucket0.gradient", zero.schedule = #zero.schedule<micro_batch, last>} : (tensor<256xf32>) -> tensor<64xf32>
  // EACH-NOT: zero.reduce_scatter
  // EACH-NOT: zero.all_reduce
  // ONE-NOT: zero.all_reduce
  // LAST: zero.launch @update(%{{.*}}, %{{.*}}, %[[SUM]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
  // EACH: zero.launch @update(%{{.*}}, %{{.*}}, %[[G]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
  // ONE: zero.launch @update(%{{.*}}, %{{.*}}, %[[G]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
  // The accumulator is written by its launches, in place.
  // CHECK-NOT: zero.write @bucket0.gradient
  zero.update @w [@w.master], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>
  zero.update @v [@v.master], %gv by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<60xf32>
  // FOUR: return %[[MEAN]], %[[LOCAL]]
  // ONE: return %[[LOCAL]], %[[LOCAL]]
  return %mean, %local, %share : tensor<f32>, tensor<f32>, tensor<bf16>
}

func.func private @first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @update(%p: tensor<?xbf16> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xbf16>, tensor<?xf32>) attributes {zero.kernel}
}
