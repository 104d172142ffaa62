// A whole step: JAX's donated arguments are state, whose next values the program returns. Other
// arguments are data, and the result of one float that is not state is the loss.
// RUN: zero-opt %s --zero-bind-arguments="zeros=arg1" | FileCheck %s

// CHECK: module {{.*}}attributes {zero.whole_step}
// CHECK: zero.state constant @arg0 : tensor<4xf32> {required}
// CHECK: zero.state constant @arg1 : tensor<i32> {splat = 0.000000e+00 : f64}
// CHECK: func.func @step(%[[X:.*]]: tensor<4xf32> {zero.binding = "x"})
// CHECK-SAME: -> (tensor<f32> {zero.binding = "loss"}) {
// CHECK-DAG: %[[W:.*]] = zero.read @arg0
// CHECK-DAG: %[[T:.*]] = zero.read @arg1
// CHECK: %[[N:.*]] = onnx.node "Sub"(%[[W]], %[[X]])
// CHECK: zero.write @arg0, %[[N]] : tensor<4xf32>
// CHECK: zero.write @arg1, %[[T]] : tensor<i32>
// CHECK: return %{{.*}} : tensor<f32>
module attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                         %t: tensor<i32> {jax.buffer_donor = true},
                         %x: tensor<4xf32> {zero.name = "x"}, %unused: tensor<7xf32>)
      -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<i32>, tensor<f32>) {
    %axes = arith.constant dense<0> : tensor<1xi64>
    %n = onnx.node "Sub"(%w, %x) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %l = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23
        : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
    return %n, %t, %l : tensor<4xf32>, tensor<i32>, tensor<f32>
  }
}
