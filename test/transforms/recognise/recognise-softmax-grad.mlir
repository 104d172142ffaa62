// RUN: zero-opt %s --zero-recognise-softmax-grad | FileCheck %s

// As torch.autograd writes it.
// CHECK-LABEL: func.func @difference
// CHECK: %[[X:.*]] = onnx.node "SoftmaxGrad"(%arg0, %arg1) {axis = 1 : i64} domain "zero"
// CHECK-NOT: onnx.node
// CHECK: return %[[X]]
func.func @difference(%dy: tensor<3x4xf32>, %w: tensor<3x4xf32>)
    -> tensor<3x4xf32> {
  %t = onnx.node "Mul"(%dy, %w) {} opset 23 node "t"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = arith.constant dense<[1]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%t, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %u = onnx.node "Mul"(%w, %s) {} opset 23 node "u"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %dx = onnx.node "Sub"(%t, %u) {} opset 23 node "dx"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %dx : tensor<3x4xf32>
}

// The weights are a factor of the difference. The axis is the first.
// CHECK-LABEL: func.func @factored
// CHECK: %[[X:.*]] = onnx.node "SoftmaxGrad"(%arg0, %arg1) {axis = 0 : i64}
// CHECK-NOT: onnx.node
// CHECK: return %[[X]]
func.func @factored(%dy: tensor<3x4xf32>, %w: tensor<3x4xf32>)
    -> tensor<3x4xf32> {
  %t = onnx.node "Mul"(%w, %dy) {} opset 23 node "t"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = arith.constant dense<[0]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%t, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %u = onnx.node "Sub"(%dy, %s) {} opset 23 node "u"
      : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %dx = onnx.node "Mul"(%u, %w) {} opset 23 node "dx"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %dx : tensor<3x4xf32>
}

// As jax.nn.softmax has it: the sum is of the negated products.
// CHECK-LABEL: func.func @negated
// CHECK: %[[X:.*]] = onnx.node "SoftmaxGrad"(%arg0, %arg1) {axis = 1 : i64}
// CHECK-NOT: onnx.node
// CHECK: return %[[X]]
func.func @negated(%dy: tensor<3x4xf32>, %w: tensor<3x4xf32>)
    -> tensor<3x4xf32> {
  %t = onnx.node "Mul"(%dy, %w) {} opset 23 node "t"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n = onnx.node "Neg"(%t) {} opset 23 node "n"
      : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = arith.constant dense<[1]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%n, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %u = onnx.node "Mul"(%w, %s) {} opset 23 node "u"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %dx = onnx.node "Add"(%t, %u) {} opset 23 node "dx"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %dx : tensor<3x4xf32>
}

// As JAX derives it from a quotient: nothing reads the exponentials any more but the softmax.
// CHECK-LABEL: func.func @exponentials
// CHECK: %[[E:.*]] = onnx.node "Exp"
// CHECK: %[[W:.*]] = onnx.node "Div"(%[[E]],
// CHECK-NEXT: %[[X:.*]] = onnx.node "SoftmaxGrad"(%arg1, %[[W]]) {axis = 1 : i64}
// CHECK-NEXT: return %[[W]], %[[X]]
func.func @exponentials(%x: tensor<3x4xf32>, %dy: tensor<3x4xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %e = onnx.node "Exp"(%x) {} opset 23 node "e"
      : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = arith.constant dense<[1]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%e, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %w = onnx.node "Div"(%e, %s) {} opset 23 node "w"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %ss = onnx.node "Mul"(%s, %s) {} opset 23 node "ss"
      : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %i = onnx.node "Reciprocal"(%ss) {} opset 23 node "i"
      : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %a = onnx.node "Mul"(%dy, %i) {} opset 23 node "a"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %b = onnx.node "Mul"(%a, %e) {} opset 23 node "b"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.node "ReduceSum"(%b, %c0) {keepdims = 1 : i64} opset 23 node "c"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %n = onnx.node "Neg"(%c) {} opset 23 node "n"
      : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %g = onnx.node "Div"(%dy, %s) {} opset 23 node "g"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %h = onnx.node "Add"(%g, %n) {} opset 23 node "h"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %dx = onnx.node "Mul"(%h, %e) {} opset 23 node "dx"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %w, %dx : tensor<3x4xf32>, tensor<3x4xf32>
}

// The sums are of rows and read as columns.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT: "SoftmaxGrad"
func.func @other_axis(%dy: tensor<4x4xf32>, %w: tensor<4x4xf32>)
    -> tensor<4x4xf32> {
  %t = onnx.node "Mul"(%dy, %w) {} opset 23 node "t"
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant dense<[1]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%t, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %c1 = arith.constant dense<[1, 4]> : tensor<2xi64>
  %r = onnx.node "Reshape"(%s, %c1) {} opset 23 node "r"
      : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<1x4xf32>
  %u = onnx.node "Mul"(%w, %r) {} opset 23 node "u"
      : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %dx = onnx.node "Sub"(%t, %u) {} opset 23 node "dx"
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %dx : tensor<4x4xf32>
}

// dy w - dy sum(dy w) is the gradient with the operands exchanged, which is as good.
// CHECK-LABEL: func.func @other_factor
// CHECK: onnx.node "SoftmaxGrad"(%arg1, %arg0) {axis = 1 : i64}
func.func @other_factor(%dy: tensor<3x4xf32>, %w: tensor<3x4xf32>)
    -> tensor<3x4xf32> {
  %t = onnx.node "Mul"(%dy, %w) {} opset 23 node "t"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = arith.constant dense<[1]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%t, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %u = onnx.node "Mul"(%dy, %s) {} opset 23 node "u"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %dx = onnx.node "Sub"(%t, %u) {} opset 23 node "dx"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %dx : tensor<3x4xf32>
}

// The sum counts twice.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: "SoftmaxGrad"
func.func @twice(%dy: tensor<3x4xf32>, %w: tensor<3x4xf32>)
    -> tensor<3x4xf32> {
  %t = onnx.node "Mul"(%dy, %w) {} opset 23 node "t"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = arith.constant dense<[1]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%t, %c0) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %u = onnx.node "Mul"(%w, %s) {} opset 23 node "u"
      : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %c1 = arith.constant dense<2.0> : tensor<f32>
  %v = onnx.node "Mul"(%u, %c1) {} opset 23 node "v"
      : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %dx = onnx.node "Sub"(%t, %v) {} opset 23 node "dx"
      : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %dx : tensor<3x4xf32>
}
