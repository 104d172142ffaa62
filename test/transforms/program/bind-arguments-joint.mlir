// A joint graph returns the loss and the gradients of its first arguments, in order, or of those
// that attributes name. Its parameters are symbols with gradients; what the updates are is not
// said, so the optimizer of --optimizer is added.
// RUN: zero-opt %s --split-input-file --zero-bind-arguments | FileCheck %s

// CHECK: attributes {zero.own_gradients}
// CHECK: zero.parameter @w : tensor<4xf32> {required}
// CHECK: func.func @step(%[[X:.*]]: tensor<4xf32> {zero.binding = "arg1"})
// CHECK: zero.gradient @w, %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK: return %{{.*}} : tensor<f32>
func.func @joint(%arg0: tensor<4xf32> loc("w"), %arg1: tensor<4xf32>)
    -> (tensor<f32>, tensor<4xf32>) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %p = onnx.node "Mul"(%arg0, %arg1) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "ReduceSum"(%p, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  return %l, %arg1 : tensor<f32>, tensor<4xf32>
}

// -----

// CHECK: attributes {zero.own_gradients}
// CHECK-DAG: zero.parameter @b : tensor<4xf32> {required}
// CHECK-DAG: zero.state constant @scale : tensor<4xf32> {required, zero.exported_as = "buffer"}
// CHECK: func.func @step(%[[X:.*]]: tensor<4xf32> {zero.binding = "x"})
// CHECK: zero.gradient @b, %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @joint(%x: tensor<4xf32> {zero.name = "x"},
                 %s: tensor<4xf32> {zero.name = "scale", zero.role = "buffer"},
                 %b: tensor<4xf32> {zero.name = "b"})
    -> (tensor<4xf32> {zero.gradient_of = "b"}, tensor<f32> {zero.role = "loss"}) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %g = onnx.node "Mul"(%x, %s) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = onnx.node "Mul"(%g, %b) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "ReduceSum"(%p, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  return %g, %l : tensor<4xf32>, tensor<f32>
}

// -----

// Forward and loss: parameters are marked, and Zero differentiates.
// CHECK-NOT: own_gradients
// CHECK: zero.state constant @w : tensor<4xf32> {required, zero.exported_as = "parameter"}
// CHECK: func.func @step(%{{.*}}: tensor<4xf32> {zero.binding = "arg1"})
func.func @forward(%w: tensor<4xf32> {zero.name = "w", zero.role = "parameter"}, %x: tensor<4xf32>)
    -> tensor<f32> {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %p = onnx.node "Mul"(%w, %x) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "ReduceSum"(%p, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  return %l : tensor<f32>
}
