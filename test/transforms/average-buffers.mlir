// RUN: zero-opt %s --zero-average-buffers | FileCheck %s

// One bucket of each element type; the collectives stand before the epilogue, the
// writes at its end. A counter of the optimizer is no buffer.
zero.state buffer @a : tensor<3xf32> {splat = 0.0}
zero.state buffer @b : tensor<100xf32> {splat = 0.0}
zero.state buffer @wide : tensor<2xf64> {splat = 0.0}
zero.state optimizer @count : tensor<f64> {splat = 1.0}
func.func private @tick(%c: tensor<f64>) -> tensor<f64> attributes {zero.kernel} {
  return %c : tensor<f64>
}

// CHECK-LABEL: func.func @step
func.func @step(%a: tensor<3xf32>, %b: tensor<100xf32>, %w: tensor<2xf64>) {
  zero.write @a, %a : tensor<3xf32>
  zero.write @wide, %w : tensor<2xf64>
  zero.write @b, %b : tensor<100xf32>
  %c = zero.read @count : tensor<f64>
  %n = zero.launch @tick(%c) {zero.epilogue} : (tensor<f64>) -> tensor<f64>
  zero.write @count, %n {zero.epilogue} : tensor<f64>
  return
}
// CHECK: %[[BUCKET:.*]] = zero.bucket(%arg0, %arg1) at [0, 64] : (tensor<3xf32>, tensor<100xf32>) -> tensor<192xf32>
// CHECK: %[[MEAN:.*]] = zero.rank_mean %[[BUCKET]]
// CHECK: %[[A:.*]] = zero.member %[[MEAN]] at 0
// CHECK: %[[B:.*]] = zero.member %[[MEAN]] at 64
// CHECK: %[[WIDE:.*]] = zero.bucket(%arg2) at [0]
// CHECK: zero.rank_mean %[[WIDE]]
// CHECK: zero.launch @tick
// CHECK: zero.write @count
// CHECK: zero.write @a, %[[A]] {zero.epilogue}
// CHECK-NEXT: zero.write @b, %[[B]] {zero.epilogue}
// CHECK-NEXT: zero.write @wide, %{{.*}} {zero.epilogue}
