// RUN: zero-opt %s --zero-fold-transposes | FileCheck %s

// torch's exporter transposes keys as a 3-D tensor and scales them afterwards.

// CHECK-LABEL: func.func @keys
// CHECK-SAME: (%[[Q:.+]]: tensor<4x4x32x16xf32>, %[[X:.+]]: tensor<4x32x4x16xf32>)
// CHECK: %[[S:.+]] = arith.constant
// CHECK: %[[K:.+]] = onnx.node "Transpose"(%[[X]]) {perm = array<i64: 0, 2, 1, 3>}
// CHECK: %[[SK:.+]] = onnx.node "Mul"(%[[K]], %[[S]])
// CHECK: %[[R:.+]] = onnx.node "Contract"(%[[Q]], %[[SK]]) {transB = 1 : i64} domain "zero" opset 1
// CHECK-NEXT: return %[[R]]
func.func @keys(%q: tensor<4x4x32x16xf32>, %x: tensor<4x32x4x16xf32>) -> tensor<4x4x32x32xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %merged = arith.constant dense<[-1, 32, 16]> : tensor<3xi64>
  %split = arith.constant dense<[4, 4, 16, 32]> : tensor<4xi64>
  %k = onnx.node "Transpose"(%x) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<4x32x4x16xf32>) -> tensor<4x4x32x16xf32>
  %0 = onnx.node "Reshape"(%k, %merged) {} opset 18 : (tensor<4x4x32x16xf32>, tensor<3xi64>) -> tensor<16x32x16xf32>
  %1 = onnx.node "Transpose"(%0) {perm = array<i64: 0, 2, 1>} opset 18 : (tensor<16x32x16xf32>) -> tensor<16x16x32xf32>
  %2 = onnx.node "Reshape"(%1, %split) {} opset 18 : (tensor<16x16x32xf32>, tensor<4xi64>) -> tensor<4x4x16x32xf32>
  %3 = onnx.node "Mul"(%2, %scale) {} opset 18 : (tensor<4x4x16x32xf32>, tensor<f32>) -> tensor<4x4x16x32xf32>
  %4 = onnx.node "MatMul"(%q, %3) {} opset 18 : (tensor<4x4x32x16xf32>, tensor<4x4x16x32xf32>) -> tensor<4x4x32x32xf32>
  return %4 : tensor<4x4x32x32xf32>
}

// A tied head: the transposed embedding table is the last product's weight.

// CHECK-LABEL: func.func @head
// CHECK-NEXT: onnx.node "Contract"(%{{.+}}, %{{.+}}) {transB = 1 : i64}
// CHECK-NEXT: return
func.func @head(%x: tensor<4x32x64xf32>, %w: tensor<512x64xf32>) -> tensor<4x32x512xf32> {
  %t = onnx.node "Transpose"(%w) {} opset 18 : (tensor<512x64xf32>) -> tensor<64x512xf32>
  %y = onnx.node "MatMul"(%x, %t) {} opset 18 : (tensor<4x32x64xf32>, tensor<64x512xf32>) -> tensor<4x32x512xf32>
  return %y : tensor<4x32x512xf32>
}

// Gemm keeps its bias and its flags.

// CHECK-LABEL: func.func @gemm
// CHECK-NEXT: onnx.node "Gemm"(%{{.+}}, %{{.+}}, %{{.+}}) {transA = 1 : i64, transB = 0 : i64} opset 18
// CHECK-NEXT: return
func.func @gemm(%x: tensor<3x4xf32>, %w: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %tx = onnx.node "Transpose"(%x) {} opset 18 : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %tw = onnx.node "Transpose"(%w) {} opset 18 : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %y = onnx.node "Gemm"(%tx, %tw, %b) {transB = 1 : i64} opset 18 : (tensor<4x3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// A transpose that permutes more than the last two dimensions remains, as does one whose result is
// multiplied by a vector.

// CHECK-LABEL: func.func @kept
// CHECK: onnx.node "Transpose"
// CHECK: onnx.node "MatMul"
// CHECK: onnx.node "Transpose"
// CHECK: onnx.node "MatMul"
func.func @kept(%x: tensor<2x3x4xf32>, %w: tensor<2x5xf32>, %m: tensor<5x4xf32>, %v: tensor<5xf32>) -> (tensor<4x3x5xf32>, tensor<4xf32>) {
  %t = onnx.node "Transpose"(%x) {perm = array<i64: 2, 1, 0>} opset 18 : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %y = onnx.node "MatMul"(%t, %w) {} opset 18 : (tensor<4x3x2xf32>, tensor<2x5xf32>) -> tensor<4x3x5xf32>
  %u = onnx.node "Transpose"(%m) {} opset 18 : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %z = onnx.node "MatMul"(%u, %v) {} opset 18 : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4x3x5xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @trivial
// CHECK-SAME: (%[[X:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @trivial(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %flat = arith.constant dense<-1> : tensor<1xi64>
  %shape = arith.constant dense<[2, 3, 4]> : tensor<3xi64>
  %0 = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0, 2>} opset 18 : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = onnx.node "Transpose"(%0) {perm = array<i64: 1, 0, 2>} opset 18 : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %2 = onnx.node "Reshape"(%1, %flat) {} opset 18 : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<24xf32>
  %3 = onnx.node "Reshape"(%2, %shape) {} opset 18 : (tensor<24xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %4 = onnx.node "Identity"(%3) {} opset 18 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %5 = onnx.node "Expand"(%4, %shape) {} opset 18 : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  return %5 : tensor<2x3x4xf32>
}
