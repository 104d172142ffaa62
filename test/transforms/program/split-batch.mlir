// Each of 4 parts gets two of eight samples. Values of samples are divided along their batch, a
// table of all samples by the number of the part. A sum over the batch becomes four times that of a
// part, so that its mean over parts is the sum.
// RUN: zero-opt %s --zero-split-batch="parts=4" | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32> {zero.binding = "x"}, %[[P:.*]]: tensor<i64> {zero.binding = "zero.part"})
// CHECK: %[[W:.*]] = zero.read @w
// CHECK: %[[H:.*]] = onnx.node "MatMul"(%[[X]], %[[W]]) {{.*}} -> tensor<2x4xf32>
// CHECK: %[[F:.*]] = onnx.node "Mul"(%[[P]]
// CHECK: %[[I:.*]] = onnx.node "Add"(%{{.*}}, %[[F]]) {{.*}} -> tensor<2xi64>
// CHECK: %[[T:.*]] = onnx.node "Gather"(%{{.*}}, %[[I]]) {axis = 0 : i64} {{.*}} -> tensor<2x4xf32>
// CHECK: %[[Y:.*]] = onnx.node "Add"(%[[H]], %[[T]]) {{.*}} -> tensor<2x4xf32>
// CHECK: %[[R:.*]] = onnx.node "Reshape"(%[[Y]], %{{.*}}) {{.*}} -> tensor<8xf32>
// CHECK: %[[S:.*]] = onnx.node "ReduceSum"(%[[R]]
// CHECK: %[[L:.*]] = onnx.node "Mul"(%[[S]], %{{.*}}) {{.*}} -> tensor<f32>
// CHECK: %[[XT:.*]] = onnx.node "Transpose"(%[[X]]) {{.*}} -> tensor<4x2xf32>
// CHECK: %[[G:.*]] = onnx.node "MatMul"(%[[XT]], %[[Y]]) {{.*}} -> tensor<4x4xf32>
// CHECK: %[[GS:.*]] = onnx.node "Mul"(%[[G]]
// CHECK: zero.gradient @w, %[[GS]]
// CHECK: return %[[L]]
zero.parameter @w : tensor<4x4xf32> {required}
func.func @step(%x: tensor<8x4xf32> {zero.binding = "x", zero.split})
    -> (tensor<f32> {zero.binding = "loss"}) {
  %table = arith.constant dense<[[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0],
                                 [3.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0], [5.0, 0.0, 0.0, 0.0],
                                 [6.0, 0.0, 0.0, 0.0], [7.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>
  %shape = arith.constant dense<32> : tensor<1xi64>
  %axes = arith.constant dense<0> : tensor<1xi64>
  %w = zero.read @w : tensor<4x4xf32>
  %h = onnx.node "MatMul"(%x, %w) {} opset 23 : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = onnx.node "Add"(%h, %table) {} opset 23 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = onnx.node "Reshape"(%y, %shape) {allowzero = 1 : i64} opset 23
      : (tensor<8x4xf32>, tensor<1xi64>) -> tensor<32xf32>
  %l = onnx.node "ReduceSum"(%r, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<32xf32>, tensor<1xi64>) -> tensor<f32>
  %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 23 : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %g = onnx.node "MatMul"(%xt, %y) {} opset 23 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %s = zero.gradient @w, %g : tensor<4x4xf32> -> tensor<4x4xf32>
  return %l : tensor<f32>
}
