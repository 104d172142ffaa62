// States of the optimizer in codes and in bf16. A state with codes is two: the codes, in which its
// attribute names the other one, and a scale for each block. A tensor of fewer than 4096 elements
// has f32 states, and so an update of its own.
// RUN: zero-opt %s --zero-build-step="state-precision=8bit" | FileCheck %s --check-prefixes=CHECK,EIGHT
// RUN: zero-opt %s --zero-build-step="state-precision=exp_avg=4bit,exp_avg_sq=bf16" | FileCheck %s --check-prefixes=CHECK,FOUR

// EIGHT: zero.state optimizer @w.exp_avg of @w : tensor<64x64xi8> {blocks = #zero.blocks<8, 256, dynamic, @w.exp_avg.scale>, splat = 0.000000e+00 : f64}
// EIGHT: zero.state optimizer @w.exp_avg.scale of @w : tensor<16xf32> {splat = 0.000000e+00 : f64}
// EIGHT: zero.state optimizer @w.exp_avg_sq of @w : tensor<64x64xi8> {blocks = #zero.blocks<8, 256, dynamic_positive, @w.exp_avg_sq.scale>
// FOUR: zero.state optimizer @w.exp_avg of @w : tensor<2048xi8> {blocks = #zero.blocks<4, 128, dynamic, @w.exp_avg.scale>
// FOUR: zero.state optimizer @w.exp_avg.scale of @w : tensor<32xf32>
// FOUR: zero.state optimizer @w.exp_avg_sq of @w : tensor<64x64xbf16>
zero.parameter @w : tensor<64x64xf32> {splat = 0.5}
// EIGHT: zero.state optimizer @small.exp_avg of @small : tensor<64x63xf32>
// FOUR: zero.state optimizer @small.exp_avg of @small : tensor<64x63xf32>
// FOUR: zero.state optimizer @small.exp_avg_sq of @small : tensor<64x63xbf16>
zero.parameter @small : tensor<64x63xf32> {splat = 0.5}

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<64x64xf32> {zero.binding = "dw"}, %ds: tensor<64x63xf32> {zero.binding = "ds"}, %l: tensor<f32> {zero.binding = "l"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %g = zero.gradient @w, %dw : tensor<64x64xf32> -> tensor<64x64xf32>
  %s = zero.gradient @small, %ds : tensor<64x63xf32> -> tensor<64x63xf32>
  // EIGHT: zero.update @w [@w.exp_avg, @w.exp_avg.scale, @w.exp_avg_sq, @w.exp_avg_sq.scale], %{{.*}} by @update(
  // FOUR: zero.update @w [@w.exp_avg, @w.exp_avg.scale, @w.exp_avg_sq], %{{.*}} by @update(
  // CHECK: zero.update @small [@small.exp_avg, @small.exp_avg_sq], %{{.*}} by @update_1(
  return %l : tensor<f32>
}

// Rows are blocks of elements. Of codes of 4 bits each byte has one of either half of a row.
// EIGHT: func.func private @update(%{{.*}}: tensor<?x256xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?x256xi8> {zero.inplace = 1 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 2 : i64}, %{{.*}}: tensor<?x256xi8> {zero.inplace = 3 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 4 : i64}, %{{.*}}: tensor<?x256xf32>, %{{.*}}: tensor<f32>,
// FOUR: func.func private @update(%{{.*}}: tensor<?x2x64xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?x64xi8> {zero.inplace = 1 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 2 : i64}, %{{.*}}: tensor<?x2x64xbf16> {zero.inplace = 3 : i64}, %{{.*}}: tensor<?x2x64xf32>, %{{.*}}: tensor<f32>,
