// RUN: zero-opt %s --split-input-file --zero-differentiate | FileCheck %s

// One gradient for each trained parameter, computed backwards from the seed.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:[^ ]+]]: tensor<4x16xf32>
// CHECK: %[[LOSS:.*]] = onnx.node "ReduceSum"
// CHECK: %[[SEED:.*]] = zero.rank_share : tensor<f32>
// CHECK: %[[DY:.*]] = onnx.node "Expand"({{.*}}) {{.*}} -> tensor<4x8xf32>
// CHECK: %[[DW:.*]] = onnx.node "Contract"(%[[X]], %[[DY]]) {transA = 1 : i64, transB = 0 : i64} domain "zero"
// CHECK: zero.gradient @w, %[[DW]] : tensor<16x8xf32> -> tensor<16x8xf32>
// CHECK-NOT: zero.gradient
// CHECK: return %[[LOSS]]
zero.parameter @w : tensor<16x8xf32> {splat = 0.5}
zero.parameter @b : tensor<8xf32> {splat = 0.5, frozen}
func.func @step(%x: tensor<4x16xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<16x8xf32>
  %b = zero.read @b : tensor<8xf32>
  %y = onnx.node "MatMul"(%x, %w) {} opset 13 node "fc" : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %z = onnx.node "Add"(%y, %b) {} opset 14 node "bias" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss = onnx.node "ReduceSum"(%z) {keepdims = 0 : i64} opset 13 node "sum" : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Gradients from two users are added. Values that depend only on the input have no gradient.
// CHECK-LABEL: func.func @step
// CHECK: zero.rank_share
// CHECK: %[[DQ:.*]] = onnx.node "Expand"
// CHECK: %[[DP:.*]] = onnx.node "Mul"(%[[DQ]]
// CHECK: %[[A:.*]] = onnx.node "Mul"(%[[DQ]]
// CHECK: %[[B:.*]] = onnx.node "Mul"(%[[DP]]
// CHECK: %[[SUM:.*]] = onnx.node "Add"(%[[A]], %[[B]])
// CHECK: zero.gradient @w, %[[SUM]] : tensor<8xf32> -> tensor<8xf32>
zero.parameter @w : tensor<8xf32> {splat = 0.5}
func.func @step(%x: tensor<8xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8xf32>
  %e = onnx.node "Exp"(%x) {} opset 13 : (tensor<8xf32>) -> tensor<8xf32>
  %p = onnx.node "Mul"(%w, %e) {} opset 14 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %q = onnx.node "Mul"(%p, %w) {} opset 14 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %loss = onnx.node "ReduceSum"(%q) {keepdims = 0 : i64} opset 13 : (tensor<8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A program that already trains keeps its gradients.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.rank_share
// CHECK: zero.gradient @w, %{{.*}} : tensor<8xf32> -> tensor<8xf32>
// CHECK-NOT: zero.gradient
zero.parameter @w : tensor<8xf32> {splat = 0.5}
func.func @step(%x: tensor<8xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %loss = onnx.node "ReduceSum"(%x) {keepdims = 0 : i64} opset 13 : (tensor<8xf32>) -> tensor<f32>
  %g = zero.gradient @w, %x : tensor<8xf32> -> tensor<8xf32>
  return %loss : tensor<f32>
}

// -----

// Values stored in 16 bits: each gradient has the type of its value, including sums over
// parameters' gradients. Constants that would be rounded are f32. In f16 the seed is multiplied by
// the loss scale.
// CHECK-LABEL: func.func @step
// CHECK: %[[SHARE:.*]] = zero.rank_share : tensor<f32>
// CHECK: %[[SCALE:.*]] = zero.read @loss_scale : tensor<f32>
// CHECK: onnx.node "Mul"(%[[SHARE]], %[[SCALE]]) {} {{.*}} node "loss_scale"
// CHECK: onnx.node "Div"({{.*}} -> tensor<1x1xf32>
// CHECK: onnx.node "Expand"({{.*}} -> tensor<4x8xf32>
// CHECK: onnx.node "Cast"({{.*}} {to = 10 : i64} {{.*}} -> tensor<4x8xf16>
// CHECK: %[[TENTH:.*]] = arith.constant dense<1.000000e-01> : tensor<f32>
// CHECK: onnx.node "Mul"(%{{.*}}, %[[TENTH]]) {{.*}} (tensor<4x8xf16>, tensor<f32>) -> tensor<4x8xf16>
// CHECK: onnx.node "Contract"({{.*}} (tensor<4x16xf32>, tensor<4x8xf16>) -> tensor<16x8xf16>
// CHECK: onnx.node "ReduceSum"({{.*}} -> tensor<8xf16>
// CHECK: zero.gradient @w, %{{.*}} : tensor<16x8xf16>
// CHECK: zero.gradient @b, %{{.*}} : tensor<8xf16>
module attributes {zero.precision = f16} {
  zero.state optimizer @loss_scale : tensor<f32> {splat = 65536.0}
  zero.parameter @w : tensor<16x8xf16> {splat = 0.5}
  zero.parameter @b : tensor<8xf16> {splat = 0.5}
  func.func @step(%x: tensor<4x16xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<16x8xf16>
    %b = zero.read @b : tensor<8xf16>
    %y = onnx.node "Gemm"(%x, %w, %b) {} opset 13 : (tensor<4x16xf32>, tensor<16x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
    %z = onnx.node "LeakyRelu"(%y) {alpha = 0.1 : f32} opset 16 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    %loss = onnx.node "ReduceMean"(%z) {keepdims = 0 : i64} opset 13 : (tensor<4x8xf16>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
