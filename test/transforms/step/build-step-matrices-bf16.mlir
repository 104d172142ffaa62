// With ns-precision=bf16, products take matrices in bf16. That of G and the next X are rounded once, G G
// and what is added to a X are f32. The last X is the step, in f32.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings='ns-steps=2 ns-precision=bf16' matrix-params=w" | FileCheck %s

zero.parameter @w : tensor<8x4xf32> {data = #zero.data<"m.onnx", 0, 128>}

func.func @step(%dw: tensor<8x4xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %gw = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: zero.launch @direction
  // CHECK: %[[X:.*]] = zero.launch @matrix0_0_normalise(%{{.*}}) {{.*}} -> tensor<8x4xbf16>
  // CHECK: %[[G:.*]] = zero.launch @[[PG:.*]](%[[X]], %[[X]]) {{.*}} -> tensor<4x4xbf16>
  // CHECK: %[[H:.*]] = zero.launch @[[PH:.*]](%[[G]], %[[G]]) {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[P:.*]] = zero.launch @[[POLYNOMIAL:.*]](%[[G]], %[[H]]) {{.*}} -> tensor<4x4xbf16>
  // CHECK: %[[C:.*]] = zero.launch @[[PC:.*]](%[[X]], %[[P]]) {{.*}} -> tensor<8x4xf32>
  // CHECK: %[[Y:.*]] = zero.launch @[[NEXT:.*]](%[[X]], %[[C]]) {{.*}} -> tensor<8x4xbf16>
  // CHECK: zero.launch @[[PG]](%[[Y]], %[[Y]])
  // CHECK: zero.launch @[[PH]]
  // CHECK: zero.launch @[[POLYNOMIAL]]
  // CHECK: %[[E:.*]] = zero.launch @[[PC]](%[[Y]],
  // CHECK: zero.launch @[[LAST:.*_next_8x4]](%[[Y]], %[[E]]) {{.*}} -> tensor<8x4xf32>
  // CHECK: zero.update @w
  // CHECK: func.func private @[[PG]](%{{.*}}: tensor<8x4xbf16>, %{{.*}}: tensor<8x4xbf16>) -> tensor<4x4xbf16>
  // Sums are f32.
  // CHECK-COUNT-2: arith.extf
  // CHECK: arith.addf {{.*}} : f32
  // CHECK: arith.truncf
  return %l : tensor<f32>
}
