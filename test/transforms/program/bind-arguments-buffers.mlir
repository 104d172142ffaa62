// State that the program returns beside gradients, or beside a loss that Zero differentiates, is a
// buffer: the program is not a whole step, and the optimizer of --optimizer trains its parameters.
// RUN: zero-opt %s --split-input-file --zero-bind-arguments --zero-update-buffers | FileCheck %s

// CHECK: attributes {zero.own_gradients}
// CHECK-NOT: zero.whole_step
// CHECK-DAG: zero.parameter @w : tensor<4xf32> {required}
// CHECK-DAG: zero.state buffer @mean : tensor<4xf32> {required, zero.exported_as = "buffer"}
// CHECK: func.func @step(%[[X:.*]]: tensor<4xf32> {zero.binding = "x"})
// CHECK: %[[M:.*]] = zero.read @mean
// CHECK: %[[N:.*]] = onnx.node "Add"(%[[M]], %[[X]])
// CHECK-DAG: zero.write @mean, %[[N]] : tensor<4xf32>
// CHECK-DAG: zero.gradient @w, %[[X]]
// CHECK: return %{{.*}} : tensor<f32>
func.func @joint(%w: tensor<4xf32> {zero.name = "w"},
                 %m: tensor<4xf32> {zero.name = "mean", tf.aliasing_output = 2 : i32},
                 %x: tensor<4xf32> {zero.name = "x"})
    -> (tensor<f32>, tensor<4xf32> {zero.gradient_of = "w"}, tensor<4xf32>) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %n = onnx.node "Add"(%m, %x) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = onnx.node "Mul"(%w, %x) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "ReduceSum"(%p, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  return %l, %x, %n : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-NOT: zero.whole_step
// CHECK-DAG: zero.state constant @w : tensor<4xf32> {required, zero.exported_as = "parameter"}
// CHECK-DAG: zero.state buffer @mean : tensor<4xf32> {required, zero.exported_as = "buffer"}
// CHECK: zero.write @mean
func.func @forward(%w: tensor<4xf32> {zero.name = "w", zero.role = "parameter"},
                   %m: tensor<4xf32> {zero.name = "mean", tf.aliasing_output = 1 : i32},
                   %x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %n = onnx.node "Add"(%m, %x) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = onnx.node "Mul"(%w, %x) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "ReduceSum"(%p, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  return %l, %n : tensor<f32>, tensor<4xf32>
}
