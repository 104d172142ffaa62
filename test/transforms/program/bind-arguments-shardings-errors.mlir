// Shardings that no plan of ranks expresses. Messages are about the file, not about a line.
// RUN: not zero-opt %s --split-input-file --zero-bind-arguments 2>&1 | FileCheck %s

// CHECK: argument 'arg1' with sharding<@mesh, [{}, {"x"}]>: expected data that is sharded along its first dimension, the batch, got axis 'x' on dimension 1; leave that dimension whole
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter"},
                %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg1': expected a sharding of Shardy, got mhlo.sharding = "{devices=[4,1]<=[4]}"; set jax_use_shardy_partitioner
func.func @main(%w: tensor<4xf32> {zero.role = "parameter"},
                %x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg0' with sharding<@mesh, [{"y"}, {"z"}]>: expected parameters that are sharded along axes of the data and one other, got 'y' and 'z', which shard no data; make one axis of them
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2, "y"=2, "z"=2]>}> : () -> ()
func.func @main(%w: tensor<4x4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"z"}]>},
                %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg0' with sharding<@mesh, [{"x":(1)2}]>: expected whole axes of the mesh, got a part of one; give the mesh an axis for each part
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg0' with sharding<@mesh, [{}], unreduced={"x"}>: expected a tensor, got summands of one (unreduced); sum them before
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg0' with sharding<@mesh, [{"x"}]>: expected a mesh with names and sizes of axes, got ''
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg0' with sharding<@mesh, [{"y"}]>: expected axes of the mesh, got 'y'
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg1' with sharding<mesh<["x"=2]>, [{"x"}]>: expected one mesh for all arguments, got 'mesh<["x"=2]' and '@mesh'
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %v: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: argument 'arg0' with sharding<@mesh, [{"x"}, {}]>: expected a list of axes for each of 1 dimensions
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=4]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// CHECK: the program's mesh: expected a number of ranks from 1 to 1048576 along 'tensor', got '9000000000'
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=9000000000]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

// -----

// A whole step, whose backward pass Zero does not shard. Without ranks along `tensor` it runs:
// bind-arguments-shardings-step.mlir.
// CHECK: argument 'arg0' with sharding<@mesh, [{"model"}]>: expected a program that returns its loss alone, to shard it along 'model', got a whole training step, which brings its own backward pass; export the loss, or give --ranks=N for data-parallel ranks
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["model"=2]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32,
                                   sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>},
                %l: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  return %w, %l : tensor<4xf32>, tensor<f32>
}

// -----

// The same of a joint graph.
// CHECK: argument 'arg0' with sharding<@mesh, [{"model"}]>: expected a program that returns its loss alone, to shard it along 'model', got a joint graph
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["model"=2]>}> : () -> ()
func.func @main(%w: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>},
                %l: tensor<f32>) -> (tensor<f32>, tensor<4xf32> {zero.gradient_of = "arg0"}) {
  return %l, %w : tensor<f32>, tensor<4xf32>
}
