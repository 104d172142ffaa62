// Data that is sharded along its first dimension is divided. State that is sharded along the same
// axis is what ZeRO's stages do. Other shardings are errors.
// RUN: zero-opt %s --split-input-file --zero-bind-arguments 2>&1 | FileCheck %s
// RUN: not zero-opt %S/Inputs/tensor-parallel.mlir --split-input-file --zero-bind-arguments 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR

// CHECK: func.func @step(%{{.*}}: tensor<8x4xf32> {zero.binding = "arg1", zero.split})
// ERROR: argument 'arg0': expected state that is sharded along an axis of the data, got axis 'model'; other axes are not supported yet
// ERROR: argument 'arg1': expected data that is sharded along its first dimension, the batch, got axis 'data' on dimension 1; other axes are not supported yet
// ERROR: argument 'arg1': expected a sharding of Shardy, got mhlo.sharding = "{devices=[4,1]<=[4]}"; set jax_use_shardy_partitioner
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32,
                                   sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>},
                %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>})
    -> (tensor<4xf32>, tensor<f32>) {
  %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
  %l = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<f32>
  return %w, %l : tensor<4xf32>, tensor<f32>
}
