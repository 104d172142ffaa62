// A whole step that shards its state along an axis beside that of the batch, on ranks that are
// data-parallel only: each has the state whole.
// RUN: zero-opt %s --zero-bind-arguments=mesh=data=2 | FileCheck %s

// CHECK: module attributes {zero.whole_step}
// CHECK: zero.state constant @arg0 : tensor<4xf32> {required}
// CHECK: zero.split
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["data"=2, "model"=2]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32,
                                   sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>},
                %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>})
    -> (tensor<4xf32>, tensor<f32>) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %l = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<8xf32>, tensor<1xi64>) -> tensor<f32>
  return %w, %l : tensor<4xf32>, tensor<f32>
}
