// RUN: zero-opt %s --zero-encode-parameters | FileCheck %s
// RUN: zero-opt %s --zero-encode-parameters | zero-opt --zero-encode-parameters | FileCheck %s

// A parameter with blocks gets codes, scales of 64 elements, and scales of 256 of these and their
// mean.
// CHECK: zero.parameter @w : tensor<2048xi8> {blocks = #zero.blocks<4, 64, nf4, @w.scale>, data = #zero.data<"m.onnx", 0, 16384, f32>, decoded = tensor<64x64xf32>, frozen}
// CHECK: zero.parameter @w.scale of @w : tensor<64xi8> {blocks = #zero.blocks<8, 256, dynamic, @w.scale.scale>, decoded = tensor<64xf32>, frozen}
// CHECK: zero.parameter @w.scale.scale of @w : tensor<2xf32> {frozen}
// CHECK: zero.parameter @b : tensor<64x64xbf16>
zero.parameter @w : tensor<64x64xf32> {data = #zero.data<"m.onnx", 0, 16384>, frozen, blocks = #zero.blocks<4, 64, nf4, @w.scale>}
zero.parameter @b : tensor<64x64xbf16> {data = #zero.data<"m.onnx", 0, 16384, f32>, frozen}
// CHECK-LABEL: func.func @step
// CHECK: %[[CODES:.*]] = zero.read @w : tensor<2048xi8>
// CHECK: %[[SCALES:.*]] = zero.read @w.scale : tensor<64xi8>
// CHECK: %[[SECOND:.*]] = zero.read @w.scale.scale : tensor<2xf32>
func.func @step(%x: tensor<64x64xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<64x64xf32>
  %b = zero.read @b : tensor<64x64xbf16>
  // CHECK: %[[A0:.*]] = onnx.node "DecodeBlocks"(%[[SCALES]], %[[SECOND]]) {bits = 8 : i64, map = "dynamic", size = 256 : i64} domain "zero" opset 1 node "w" : (tensor<64xi8>, tensor<2xf32>) -> tensor<64xf32>
  // CHECK: %[[W0:.*]] = onnx.node "DecodeBlocks"(%[[CODES]], %[[A0]]) {bits = 4 : i64, map = "nf4", size = 64 : i64} domain "zero" opset 1 node "w" : (tensor<2048xi8>, tensor<64xf32>) -> tensor<64x64xf32>
  // CHECK: onnx.node "MatMul"(%{{.*}}, %[[W0]])
  %0 = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = onnx.node "MatMul"(%0, %b) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xbf16>) -> tensor<64x64xf32>
  %shape = arith.constant dense<[64, 64]> : tensor<2xi64>
  %v = onnx.node "Reshape"(%w, %shape) {} opset 18 : (tensor<64x64xf32>, tensor<2xi64>) -> tensor<64x64xf32>
  // The next reader decodes again, and reads its own view.
  // CHECK: onnx.node "MatMul"
  // CHECK: %[[A1:.*]] = onnx.node "DecodeBlocks"(%[[SCALES]], %[[SECOND]])
  // CHECK: %[[W1:.*]] = onnx.node "DecodeBlocks"(%[[CODES]], %[[A1]]){{.*}}zero.recompute
  // CHECK: %[[V:.*]] = onnx.node "Reshape"(%[[W1]]
  // CHECK: onnx.node "MatMul"(%{{.*}}, %[[V]])
  %2 = onnx.node "MatMul"(%1, %v) {} opset 18 {zero.recompute} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %loss = onnx.node "ReduceMean"(%2) {keepdims = 0 : i64} opset 18 : (tensor<64x64xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
