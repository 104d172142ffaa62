// Nodes that only backward reads move to their first reader, with the views between; the loss does
// not depend on them. A value that is smaller than what it is computed from stays.
// RUN: zero-opt %s --zero-sink-residuals | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]] = onnx.node "Tanh"(%arg0)
// CHECK: %[[S:.*]] = onnx.node "Cast"(%[[Y]]) {{.*}} -> tensor<4x8xi1>
// CHECK: %[[L:.*]] = onnx.node "ReduceSum"(%[[Y]]
// CHECK: %[[DY:.*]] = onnx.node "Mul"(%[[L]], %[[Y]])
// CHECK: %[[C:.*]] = onnx.node "Mul"(%[[Y]], %[[Y]])
// CHECK: %[[V:.*]] = onnx.node "Reshape"(%[[C]]
// CHECK: onnx.node "Mul"(%[[DY]], %[[V]])
// CHECK: onnx.node "Where"(%[[S]]
func.func @step(%x: tensor<4x8xf32>)
    -> (tensor<f32> {zero.binding = "loss"}, tensor<4x8xf32> {zero.binding = "other"}) {
  %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
  %shape = arith.constant dense<[4, 8]> : tensor<2xi64>
  %y = onnx.node "Tanh"(%x) {} opset 23 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = onnx.node "Mul"(%y, %y) {} opset 23 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = onnx.node "Reshape"(%c, %shape) {allowzero = 1 : i64} opset 23
      : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %s = onnx.node "Cast"(%y) {to = 9 : i64} opset 23 : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %l = onnx.node "ReduceSum"(%y, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<f32>
  %dy = onnx.node "Mul"(%l, %y) {} opset 23 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = onnx.node "Mul"(%dy, %v) {} opset 23 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %w = onnx.node "Where"(%s, %g, %dy) {} opset 23
      : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %l, %w : tensor<f32>, tensor<4x8xf32>
}
