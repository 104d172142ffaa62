// Two layers on two micro-batches, at stage 3 on 2 ranks. Each layer runs for both micro-batches
// with one gather of its parameters, and its gradient is complete after both.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=2 interleave=true" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step --zero-interleave-micro-batches --zero-verify-partition | FileCheck %s
// Reduced for each micro-batch on request.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=2 interleave=true" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step=reduce-each=true --zero-interleave-micro-batches | FileCheck %s --check-prefix=EACH
// In horizontal order the pass has no effect.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=2" --zero-assign-buckets="bucket-bytes=256" --zero-partition-step --zero-interleave-micro-batches | FileCheck %s --check-prefix=HORIZONTAL

// CHECK: module attributes {{.*}}zero.interleaved
// HORIZONTAL-NOT: zero.interleaved
module attributes {zero.micro_batches = 2 : i64} {
zero.parameter @w : tensor<64xf32>
zero.parameter @v : tensor<64xf32>

// The data of the second micro-batch is another argument; the learning rate is the same.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X0:.*]]: tensor<4xf32> {zero.binding = "x"}, %[[LR:.*]]: tensor<f32> {zero.binding = "learning_rate"}, %[[X1:.*]]: tensor<4xf32> {zero.binding = "x", zero.micro_batch = 1 : i64})
func.func @step(%x: tensor<4xf32> {zero.binding = "x"}, %rate: tensor<f32> {zero.binding = "learning_rate"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<64xf32>
  %v = zero.read @v : tensor<64xf32>
  // CHECK: %[[W:.*]] = zero.all_gather
  // CHECK: %[[WM:.*]] = zero.member %[[W]] at 0
  // CHECK: %[[H0:.*]] = zero.launch @layer(%[[X0]], %[[WM]])
  // CHECK: %[[H1:.*]] = zero.launch @layer(%[[X1]], %[[WM]])
  %h = zero.launch @layer(%x, %w) : (tensor<4xf32>, tensor<64xf32>) -> tensor<4xf32>
  // The loss reads no parameters, so it is in the part of the second layer.
  // CHECK: %[[V:.*]] = zero.all_gather
  // CHECK: %[[VM:.*]] = zero.member %[[V]] at 0
  // CHECK: %[[Y0:.*]] = zero.launch @layer(%[[H0]], %[[VM]])
  // CHECK: %[[L0:.*]] = zero.launch @mean_first
  // Bytes for the sum of the gradient are reserved where it begins.
  // CHECK: %[[DV0:.*]] = zero.launch @gradient(%[[H0]], %[[Y0]])
  // CHECK: %[[BV0:.*]] = zero.bucket(%[[DV0]])
  // CHECK: %[[PV:.*]] = zero.reserve on device
  // CHECK: %[[SV0:.*]] = zero.launch @first(%[[PV]], %[[BV0]])
  // CHECK: %[[Y1:.*]] = zero.launch @layer(%[[H1]], %[[VM]])
  // CHECK: %[[SUM:.*]] = zero.launch @mean_later(%[[L0]],
  // CHECK: %[[SCALAR:.*]] = tensor.collapse_shape %[[SUM]]
  // CHECK: %[[LOSS:.*]] = zero.all_reduce %[[SCALAR]] mean
  // CHECK: %[[DV1:.*]] = zero.launch @gradient(%[[H1]], %[[Y1]])
  // CHECK: %[[BV1:.*]] = zero.bucket(%[[DV1]])
  // CHECK: %[[SV1:.*]] = zero.launch @later(%[[SV0]], %[[BV1]])
  // CHECK: %[[GV:.*]] = zero.reduce_scatter %[[SV1]]
  // EACH: zero.launch @gradient
  // EACH: zero.reduce_scatter
  // EACH: zero.launch @first
  // EACH: zero.reduce_scatter
  // EACH: zero.launch @later
  %y = zero.launch @layer(%h, %v) : (tensor<4xf32>, tensor<64xf32>) -> tensor<4xf32>
  %l = zero.launch @loss(%y) : (tensor<4xf32>) -> tensor<f32>
  %own = zero.micro_mean %l accumulate [@mean_first, @mean_later] : tensor<f32>
  %mean = zero.rank_mean %own : tensor<f32>
  %dv = zero.launch @gradient(%h, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<64xf32>
  %gv = zero.gradient @v, %dv accumulate [@first, @later] : tensor<64xf32> -> tensor<64xf32>
  // CHECK-NEXT: %{{.*}} = zero.read @bucket0
  // CHECK-NEXT: zero.all_gather
  // CHECK: zero.launch @gradient(%[[X0]],
  // CHECK: zero.launch @gradient(%[[X1]],
  // CHECK: zero.reduce_scatter
  // CHECK-NOT: #zero.schedule<micro_batch
  %dh = zero.launch @layer(%h, %w) : (tensor<4xf32>, tensor<64xf32>) -> tensor<4xf32>
  %dw = zero.launch @gradient(%x, %dh) : (tensor<4xf32>, tensor<4xf32>) -> tensor<64xf32>
  %gw = zero.gradient @w, %dw accumulate [@first, @later] : tensor<64xf32> -> tensor<64xf32>
  // CHECK: zero.launch @update({{.*}}, %[[GV]], %[[LR]])
  zero.update @w [], %gw by @update(%rate) {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>, (tensor<f32>)
  zero.update @v [], %gv by @update(%rate) {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>, (tensor<f32>)
  // CHECK: return %[[LOSS]]
  return %mean : tensor<f32>
}

func.func private @layer(%x: tensor<4xf32>, %w: tensor<64xf32>) -> tensor<4xf32> attributes {zero.kernel}
func.func private @loss(%x: tensor<4xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @gradient(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<64xf32> attributes {zero.kernel}
func.func private @first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>, %rate: tensor<f32>) -> tensor<?xf32> attributes {zero.kernel}
}
