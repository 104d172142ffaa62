// An optimizer of matrices: a launch advances the state and gives the direction, launches of products
// make the step of the matrix, which the update adds. Another optimizer updates the rest.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=weight-decay=0.1 other-weight-decay=0.01 matrix-params=w" | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=muon other-params=w" | FileCheck %s --check-prefix=OTHER

// CHECK: zero.state optimizer @w.momentum_buffer of @w : tensor<8x4xf32> {splat = 0.000000e+00
zero.parameter @w : tensor<8x4xf32> {data = #zero.data<"m.onnx", 0, 128>}
zero.parameter @b : tensor<4xf32> {splat = 0.5}

func.func @step(%dw: tensor<8x4xf32>, %db: tensor<4xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %gw = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  %gb = zero.gradient @b, %db : tensor<4xf32> -> tensor<4xf32>

  // CHECK: %[[S:.*]]:8 = zero.launch @update_scalars
  // CHECK: %[[M:.*]] = zero.read @w.momentum_buffer
  // CHECK: %[[D:.*]]:2 = zero.launch @direction(%{{.*}}, %{{.*}}, %[[S]]#3, %[[S]]#4) {{.*}}zero.direction
  // CHECK: zero.write @w.momentum_buffer
  // CHECK: %[[X:.*]] = zero.launch @matrix0_0_normalise
  // More rows than columns: the smaller product is of columns.
  // CHECK: %[[G:.*]] = zero.launch @matrix0_1_product_ta(%[[X]], %[[X]]) {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[H:.*]] = zero.launch @matrix0_2_product(%[[G]], %[[G]])
  // CHECK: %[[P:.*]] = zero.launch @matrix0_3_polynomial(%[[G]], %[[H]])
  // CHECK: zero.launch @matrix0_4_product(%[[X]], %[[P]]) {{.*}} -> tensor<8x4xf32>
  // CHECK-COUNT-4: product_ta
  // CHECK: zero.update @w [], %{{.*}} by @update(%[[S]]#3, %[[S]]#4)
  // CHECK: zero.update @b [@b.exp_avg, @b.exp_avg_sq], %{{.*}} by @update_1(%[[S]]#5,

  // OTHER: zero.update @w [@w.exp_avg, @w.exp_avg_sq]
  return %l : tensor<f32>
}
