// The sum of squares of gradients (zero.square_sum) for GPUs: one launch sums the chunks of the
// tensors of many buckets, of up to 4096 blocks of 64 elements, and one the chunks of each tensor.
// @w has 5000 blocks, so two chunks. The sums have the order of the tensors in the step.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets="bucket-bytes=1048576" --zero-partition-step --zero-verify-partition | FileCheck %s

zero.parameter @w : tensor<320000xf32>
zero.state optimizer @w.m of @w : tensor<320000xf32>
zero.parameter @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<320000xf32>, %dv: tensor<8x8xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}) {
  %gw = zero.gradient @w, %dw : tensor<320000xf32> -> tensor<320000xf32>
  %gv = zero.gradient @v, %dv : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: %[[BLOCKS:.*]] = zero.bucket(%{{.*}}, %{{.*}}) at [0, {{.*}}] {zero.schedule = #zero.schedule<epilogue>} : ({{.*}}) -> tensor<5001xf32>
  // CHECK: %[[CHUNKS:.*]] = zero.launch @chunks(%{{.*}}, %{{.*}}, %[[BLOCKS]]) {zero.name = "norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<3xi64>, tensor<3xi64>, tensor<5001xf32>) -> tensor<3xf64>
  // CHECK: %[[SUMS:.*]] = zero.launch @sums(%{{.*}}, %{{.*}}, %[[CHUNKS]]) {zero.name = "norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<2xi64>, tensor<2xi64>, tensor<3xf64>) -> tensor<2xf64>
  // The list of sums is the bucket that a kernel adds up: no number is copied.
  // CHECK-NOT: zero.bucket
  // CHECK: zero.launch @all(%[[SUMS]])
  %sw = zero.square_sum %gw by [@squares, @chunks, @sums] {zero.schedule = #zero.schedule<epilogue>} : (tensor<320000xf32>) -> tensor<f64>
  %sv = zero.square_sum %gv by [@squares, @chunks, @sums] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<f64>
  %list = zero.bucket(%sw, %sv) at [0, 1] {zero.schedule = #zero.schedule<epilogue>} : (tensor<f64>, tensor<f64>) -> tensor<2xf64>
  %sum = zero.launch @all(%list) {zero.schedule = #zero.schedule<epilogue>} : (tensor<2xf64>) -> tensor<f64>
  zero.update @w [@w.m], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<320000xf32>
  zero.update @v [@v.m], %gv by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<8x8xf32>
  return %l, %sum : tensor<f32>, tensor<f64>
}
func.func private @squares(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @chunks(%f: tensor<?xi64>, %s: tensor<?xi64>, %x: tensor<?xf32>) -> tensor<?xf64> attributes {zero.kernel}
func.func private @sums(%f: tensor<?xi64>, %s: tensor<?xi64>, %x: tensor<?xf64>) -> tensor<?xf64> attributes {zero.kernel}
func.func private @all(%x: tensor<?xf64>) -> tensor<f64> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
