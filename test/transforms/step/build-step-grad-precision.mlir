// Four micro-batches whose gradients are summed in bf16: the sum is computed in f32 and rounded at
// random, by the key of the micro-batch. The losses are summed in f32 as always.
// RUN: zero-opt %s --zero-build-step="micro-batches=4 grad-precision=bf16 clip-norm=1.0" | FileCheck %s
// With one micro-batch there is no sum.
// RUN: zero-opt %s --zero-build-step="grad-precision=bf16" | FileCheck %s --check-prefix=ONE --implicit-check-not=bf16 --implicit-check-not=accumulate

// CHECK: module attributes {{.*}}zero.grad_precision = bf16
// ONE: zero.gradient @w, %{{.*}} : tensor<8x4xf32> -> tensor<8x4xf32>
module attributes {zero.seed = 7 : i64} {
zero.parameter @w : tensor<8x4xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<8x4xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: %[[G:.*]] = zero.gradient @w, %{{.*}} accumulate [@accumulate_bf16_f32_first, @accumulate_bf16_f32_later, @rounding_key] : tensor<8x4xf32> -> tensor<8x4xbf16>
  // CHECK: zero.micro_mean %{{.*}} accumulate [@mean_f32_first, @mean_f32_later]
  // CHECK: zero.square_sum %[[G]] by [@square_blocks_bf16, @total]
  // CHECK: zero.update @w [@w.exp_avg, @w.exp_avg_sq], %[[G]] by
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  return %l : tensor<f32>
}
}
// CHECK: func.func private @rounding_key(%{{.*}}: tensor<i64>, %[[PART:.*]]: tensor<i64>, %[[RANKS:.*]]: tensor<i64>) -> tensor<i32>
// CHECK: arith.constant 7 : i32
// CHECK: arith.divui
// CHECK: func.func private @accumulate_bf16_f32_first(%[[OLD:.*]]: tensor<?xbf16> {zero.inplace = 0 : i64}, %[[OWN:.*]]: tensor<?xf32>, %[[KEY:.*]]: tensor<i32>) -> tensor<?xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[OWN]], %[[KEY]] : {{.*}}) outs(%[[OLD]]
// CHECK-NOT: arith.addf
// CHECK: linalg.yield %{{.*}} : bf16
// CHECK: func.func private @accumulate_bf16_f32_later(%{{.*}}: tensor<?xbf16> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<i32>) -> tensor<?xbf16>
// CHECK: ^bb0(%[[X:.*]]: f32, %[[BITS:.*]]: i32, %[[SUM:.*]]: bf16):
// CHECK: %[[WIDE:.*]] = arith.extf %[[SUM]] : bf16 to f32
// CHECK: %[[NEXT:.*]] = arith.addf %[[WIDE]], %[[X]] : f32
// The bits of the summand and the key, mixed, then those of the sum.
// CHECK: %[[XBITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: arith.xori %[[XBITS]], %[[BITS]]
// CHECK: %[[OWNBITS:.*]] = arith.bitcast %[[NEXT]] : f32 to i32
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[NEXT]], %[[NEXT]]
// CHECK: arith.select %[[NAN]]
// CHECK: arith.addi %[[OWNBITS]]
// CHECK-NOT: arith.truncf
// CHECK: linalg.yield
