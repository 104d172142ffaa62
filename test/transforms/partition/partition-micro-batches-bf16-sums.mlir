// Sums of gradients over micro-batches in bf16, on 2 ranks. One launch computes by what a
// micro-batch rounds them: its number is that of the part of the batch divided by the ranks, so all
// ranks round alike. The sum over ranks is computed in f32.
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=2" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,STAGE2
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=2" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefixes=CHECK,STAGE1
// --reduce-dtype is about the gradients of a 16-bit model, not about these sums.
// RUN: zero-opt %s --zero-place-state="stage=1 ranks=2" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step=reduce-in-f32=false | FileCheck %s --check-prefixes=CHECK,STAGE1
// In vertical order each micro-batch has a launch of its own, and the sum no bytes between steps.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=2 interleave=true" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step --zero-interleave-micro-batches --zero-verify-partition | FileCheck %s --check-prefix=VERTICAL

module attributes {zero.micro_batches = 2 : i64} {
// STAGE2: zero.buffer accumulator @bucket0.gradient : tensor<64xbf16> shards 2
// STAGE1: zero.buffer accumulator @bucket0.gradient : tensor<128xbf16> shards 1
// VERTICAL-NOT: zero.buffer accumulator @bucket
zero.parameter @w : tensor<64xf32>
zero.state optimizer @w.m of @w : tensor<64xf32>
zero.parameter @v : tensor<64xf32>
zero.state optimizer @v.m of @v : tensor<64xf32>

// CHECK: func.func @step(%{{.*}}, %[[STEP:.*]]: tensor<i64> {zero.binding = "zero.step"}, %[[PART:.*]]: tensor<i64> {zero.binding = "zero.part"})
// VERTICAL: func.func @step(%{{.*}}, %[[STEP:.*]]: tensor<i64> {zero.binding = "zero.step"}, %[[PART0:.*]]: tensor<i64> {zero.binding = "zero.part"}, %{{.*}}: tensor<64xf32> {{.*}}, %[[PART1:.*]]: tensor<i64> {zero.binding = "zero.part", zero.micro_batch = 1 : i64})
func.func @step(%x: tensor<64xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: %[[RANKS:.*]] = arith.constant dense<2> : tensor<i64>
  // CHECK: %[[KEY:.*]] = zero.launch @key(%[[STEP]], %[[PART]], %[[RANKS]]) {zero.name = "rounding key"}
  // CHECK-NOT: zero.launch @key
  // STAGE2: %[[SLICE:.*]] = zero.reduce_scatter %{{.*}} {zero.name = "bucket0.gradient"} : (tensor<128xf32>) -> tensor<64xf32>
  // STAGE2: %[[STORED:.*]] = zero.read @bucket0.gradient : tensor<64xbf16>
  // STAGE2: %[[FIRST:.*]] = zero.launch @first(%[[STORED]], %[[SLICE]], %[[KEY]]) {{.*}}first>} : (tensor<64xbf16>, tensor<64xf32>, tensor<i32>) -> tensor<64xbf16>
  // STAGE2: zero.launch @later(%[[FIRST]], %[[SLICE]], %[[KEY]])
  // STAGE1: %[[FIRST:.*]] = zero.launch @first(%{{.*}}, %{{.*}}, %[[KEY]]) {{.*}} : (tensor<128xbf16>, tensor<128xf32>, tensor<i32>) -> tensor<128xbf16>
  // STAGE1: %[[SUM:.*]] = zero.launch @later(%[[FIRST]], %{{.*}}, %[[KEY]])
  // STAGE1: zero.reduce_scatter %[[SUM]] in_place in f32 {{.*}}last>} : (tensor<128xbf16>) -> tensor<64xbf16>
  // VERTICAL: %[[KEY0:.*]] = zero.launch @key(%[[STEP]], %[[PART0]], %{{.*}})
  // VERTICAL: %[[PLACE:.*]] = zero.reserve on device : tensor<128xbf16>
  // VERTICAL: %[[FIRST:.*]] = zero.launch @first(%[[PLACE]], %{{.*}}, %[[KEY0]])
  // VERTICAL: %[[KEY1:.*]] = zero.launch @key(%[[STEP]], %[[PART1]], %{{.*}})
  // VERTICAL: %[[SUM:.*]] = zero.launch @later(%[[FIRST]], %{{.*}}, %[[KEY1]])
  // VERTICAL: zero.reduce_scatter %[[SUM]] in f32
  %w = zero.read @w : tensor<64xf32>
  %v = zero.read @v : tensor<64xf32>
  %dw = arith.mulf %x, %w : tensor<64xf32>
  %gw = zero.gradient @w, %dw accumulate [@first, @later, @key] : tensor<64xf32> -> tensor<64xbf16>
  %dv = arith.mulf %x, %v : tensor<64xf32>
  %gv = zero.gradient @v, %dv accumulate [@first, @later, @key] : tensor<64xf32> -> tensor<64xbf16>
  zero.update @w [@w.m], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<64xbf16>
  zero.update @v [@v.m], %gv by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<64xbf16>
  %loss = arith.constant dense<0.0> : tensor<f32>
  return %loss : tensor<f32>
}

func.func private @first(%sum: tensor<?xbf16> {zero.inplace = 0 : i64}, %x: tensor<?xf32>, %key: tensor<i32>) -> tensor<?xbf16> attributes {zero.kernel}
func.func private @later(%sum: tensor<?xbf16> {zero.inplace = 0 : i64}, %x: tensor<?xf32>, %key: tensor<i32>) -> tensor<?xbf16> attributes {zero.kernel}
func.func private @key(%step: tensor<i64>, %part: tensor<i64>, %ranks: tensor<i64>) -> tensor<i32> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xbf16>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
}
