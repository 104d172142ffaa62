// RUN: zero-opt %s --zero-chunk-sums | FileCheck %s

// The kernel that sums the blocks of one tensor is replaced by two that sum chunks of many: of
// blocks, in f32, and of the sums of chunks. Nothing uses it any more.
// CHECK-LABEL: func.func @step
// CHECK: zero.square_sum %{{.*}} by [@squares, @chunk_sums_f32, @chunk_sums_f64]
// CHECK: zero.update @w {{.*}} layerwise [@measure, @chunk_sums_f32, @chunk_sums_f64, @ratio]
// CHECK-NOT: @total
zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
func.func @step(%dw: tensor<100xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}) {
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  %s = zero.square_sum %gw by [@squares, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<100xf32>) -> tensor<f64>
  zero.update @w [@w.m], %gw by @apply layerwise [@measure, @total, @ratio](%l) {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>, (tensor<f32>)
  return %l, %s : tensor<f32>, tensor<f64>
}
func.func private @squares(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @measure(%p: tensor<?x64xf32>, %m: tensor<?x64xf32> {zero.inplace = 0 : i64}, %g: tensor<?x64xf32>, %l: tensor<f32>) -> (tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
func.func private @ratio(%w: tensor<f64>, %d: tensor<f64>, %b: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @apply(%p: tensor<?x64xf32> {zero.inplace = 0 : i64}, %m: tensor<?x64xf32>, %r: tensor<?xf32>, %l: tensor<f32>) -> tensor<?x64xf32> attributes {zero.kernel}

// A chunk ends behind its last number: what is added then is zero.
// CHECK-LABEL: func.func private @chunk_sums_f32
// CHECK-SAME: (%[[FIRSTS:.*]]: tensor<?xi64>, %[[SIZES:.*]]: tensor<?xi64>, %[[LIST:.*]]: tensor<?xf32>) -> tensor<?xf64>
// CHECK: %[[LENGTH:.*]] = tensor.empty() : tensor<4096xi8>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[FIRSTS]], %[[SIZES]], %[[LENGTH]] :
// CHECK: %[[K:.*]] = linalg.index 1
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[K]], %
// CHECK: %[[AT:.*]] = arith.select %[[EXISTS]]
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[LIST]][%[[AT]]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[NUMBER]] : f32 to f64
// CHECK: %[[ADDED:.*]] = arith.select %[[EXISTS]], %[[WIDE]], %
// CHECK: arith.addf %{{.*}}, %[[ADDED]] fastmath<reassoc> : f64
// CHECK-LABEL: func.func private @chunk_sums_f64
