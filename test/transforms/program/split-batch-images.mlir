// A convolution, its pool and the gradient of its weights are divided along the batch. The gradient
// is a sum over samples.
// RUN: zero-opt %s --zero-split-batch="parts=4" | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x8x8xf32> {zero.binding = "x"})
// CHECK: %[[W:.*]] = zero.read @w
// CHECK: %[[Y:.*]] = onnx.node "Conv"(%[[X]], %[[W]]) {{.*}} -> tensor<2x4x6x6xf32>
// CHECK: onnx.node "MaxPool"(%[[Y]]) {{.*}} -> tensor<2x4x3x3xf32>
// CHECK: %[[G:.*]] = onnx.node "ConvGradW"(%[[Y]], %[[X]]) {{.*}} -> tensor<4x3x3x3xf32>
// CHECK: %[[S:.*]] = onnx.node "Mul"(%[[G]]
// CHECK: zero.gradient @w, %[[S]]
zero.parameter @w : tensor<4x3x3x3xf32> {required}
func.func @step(%x: tensor<8x3x8x8xf32> {zero.binding = "x", zero.split})
    -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<4x3x3x3xf32>
  %y = onnx.node "Conv"(%x, %w) {} opset 22
      : (tensor<8x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<8x4x6x6xf32>
  %p = onnx.node "MaxPool"(%y) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} opset 22
      : (tensor<8x4x6x6xf32>) -> tensor<8x4x3x3xf32>
  %l = onnx.node "ReduceMean"(%p) {keepdims = 0 : i64} opset 23
      : (tensor<8x4x3x3xf32>) -> tensor<f32>
  %g = onnx.node "ConvGradW"(%y, %x) {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      strides = array<i64: 1, 1>} domain "zero" opset 1
      : (tensor<8x4x6x6xf32>, tensor<8x3x8x8xf32>) -> tensor<4x3x3x3xf32>
  %s = zero.gradient @w, %g : tensor<4x3x3x3xf32> -> tensor<4x3x3x3xf32>
  return %l : tensor<f32>
}
