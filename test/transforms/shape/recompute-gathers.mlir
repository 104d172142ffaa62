// RUN: zero-opt %s --split-input-file --zero-recompute-cheap=gathers=true | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-recompute-cheap=gathers=true --cse --canonicalize | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-recompute-cheap="gathers=true what=none" | FileCheck %s --check-prefix=NONE
// RUN: zero-opt %s --split-input-file --zero-recompute-cheap | FileCheck %s --check-prefix=OFF

// OFF-COUNT-3: "AxisGather"
// OFF-NOT: "AxisGather"

// The tokens that ranks gathered are gathered again from the rank's own, which are recomputed, to
// run beside the other product of the gradient.
// CHECK-LABEL: func.func @step
// CHECK: %[[N:.*]] = onnx.node "Tanh"(%[[X:.*]]) {{.*}} {zero.round}
// CHECK: %[[G:.*]] = onnx.node "AxisGather"(%[[N]])
// CHECK-NOT: zero.recompute
// CHECK: onnx.node "ReduceSum"
// CHECK-NEXT: %[[M:.*]] = onnx.node "Tanh"(%[[X]]) {{.*}} {zero.recompute, zero.round}
// CHECK-NEXT: %[[A:.*]] = onnx.node "AxisGather"(%[[M]]) {{.*}} {zero.recompute
// CHECK-NEXT: %[[R:.*]] = onnx.node "Reshape"(%[[A]], {{.*}} {zero.recompute}
// CHECK-NEXT: onnx.node "Contract"(%[[DY:.*]], %{{.*}})
// CHECK-NEXT: onnx.node "Contract"(%[[R]], %[[DY]])
// CHECK: onnx.node "Mul"(%{{.*}}, %[[X]])
// Without cheap values, the own tokens are saved.
// NONE-LABEL: func.func @step
// NONE: %[[N:.*]] = onnx.node "Tanh"
// NONE: onnx.node "ReduceSum"
// NONE-NEXT: onnx.node "AxisGather"(%[[N]]) {{.*}} {zero.recompute
func.func @step(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %dy: tensor<128x64xf32>, %dx: tensor<64x64xf32>)
    -> (tensor<f32> {zero.binding = "loss"}, tensor<64x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>) {
  %shape = arith.constant dense<[128, 64]> : tensor<2xi64>
  %0 = onnx.node "Contract"(%x, %w) {} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = onnx.node "Tanh"(%0) {} opset 13 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = onnx.node "AxisGather"(%1) {over = "tensor", ranks = 2 : i64, held = 0 : i64} domain "zero" opset 1 : (tensor<64x64xf32>) -> tensor<2x64x64xf32>
  %3 = onnx.node "Reshape"(%2, %shape) {} opset 14 : (tensor<2x64x64xf32>, tensor<2xi64>) -> tensor<128x64xf32>
  %4 = onnx.node "Contract"(%3, %w) {} domain "zero" opset 1 : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  %5 = onnx.node "ReduceSum"(%4) {keepdims = 0 : i64} opset 13 : (tensor<128x64xf32>) -> tensor<f32>
  %d = onnx.node "Contract"(%dy, %w) {} domain "zero" opset 1 : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  %6 = onnx.node "Contract"(%3, %dy) {transA = 1 : i64} domain "zero" opset 1 : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<64x64xf32>
  %7 = onnx.node "Mul"(%dx, %0) {} opset 14 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %5, %6, %7, %d : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<128x64xf32>
}

// -----

// Shards of 16-bit columns: the order of dimensions behind the gather is repeated, too. What only
// forward reads is not gathered again.
// CHECK-LABEL: func.func @step
// CHECK: %[[G:.*]] = onnx.node "AxisGather"(%[[X:.*]]) {
// CHECK: onnx.node "ReduceSum"
// CHECK-NEXT: %[[A:.*]] = onnx.node "AxisGather"(%[[X]]) {{.*}} {zero.recompute
// CHECK-NEXT: %[[T:.*]] = onnx.node "Transpose"(%[[A]]) {{.*}} {zero.recompute
// CHECK-NEXT: %[[R:.*]] = onnx.node "Reshape"(%[[T]], {{.*}} {zero.recompute}
// CHECK-NEXT: onnx.node "Contract"(%[[R]]
// CHECK-NOT: "AxisGather"
func.func @step(%x: tensor<64x128xbf16>, %w: tensor<256x64xbf16>, %dy: tensor<64x64xbf16>)
    -> (tensor<bf16> {zero.binding = "loss"}, tensor<256x64xbf16>) {
  %shape = arith.constant dense<[64, 256]> : tensor<2xi64>
  %0 = onnx.node "Tanh"(%x) {} opset 13 : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %c = onnx.node "Contract"(%0, %0) {transB = 1 : i64} domain "zero" opset 1 : (tensor<64x128xbf16>, tensor<64x128xbf16>) -> tensor<64x64xbf16>
  %1 = onnx.node "Contract"(%c, %x) {} domain "zero" opset 1 : (tensor<64x64xbf16>, tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %2 = onnx.node "AxisGather"(%1) {over = "tensor", ranks = 2 : i64, held = 0 : i64} domain "zero" opset 1 : (tensor<64x128xbf16>) -> tensor<2x64x128xbf16>
  %3 = onnx.node "Transpose"(%2) {perm = array<i64: 1, 0, 2>} opset 13 : (tensor<2x64x128xbf16>) -> tensor<64x2x128xbf16>
  %4 = onnx.node "Reshape"(%3, %shape) {} opset 14 : (tensor<64x2x128xbf16>, tensor<2xi64>) -> tensor<64x256xbf16>
  %5 = onnx.node "Contract"(%4, %w) {} domain "zero" opset 1 : (tensor<64x256xbf16>, tensor<256x64xbf16>) -> tensor<64x64xbf16>
  %6 = onnx.node "AxisGather"(%5) {over = "tensor", ranks = 2 : i64, held = 0 : i64} domain "zero" opset 1 : (tensor<64x64xbf16>) -> tensor<2x64x64xbf16>
  %7 = onnx.node "ReduceSum"(%6) {keepdims = 0 : i64} opset 13 : (tensor<2x64x64xbf16>) -> tensor<bf16>
  %8 = onnx.node "Contract"(%4, %dy) {transA = 1 : i64} domain "zero" opset 1 : (tensor<64x256xbf16>, tensor<64x64xbf16>) -> tensor<256x64xbf16>
  return %7, %8 : tensor<bf16>, tensor<256x64xbf16>
}
