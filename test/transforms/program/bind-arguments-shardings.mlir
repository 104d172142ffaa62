// The axis that cuts the batch is `data`, the other one that cuts parameters is `tensor`. What a
// buffer, and what an axis of one device says, does not matter.
// RUN: zero-opt %s --zero-bind-arguments | FileCheck %s
// RUN: zero-opt %s --zero-bind-arguments=mesh=data=4,tensor=3 | FileCheck %s --check-prefix=SIZES
// RUN: zero-opt %s --zero-bind-arguments=mesh=data=4 | FileCheck %s --check-prefix=WHOLE
// RUN: zero-opt %s --zero-bind-arguments -o /dev/null --remark-format=emitRemark --remarks-filter=import 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK: module attributes {zero.program_mesh = "data=6,tensor=4"}
// CHECK-NOT: sdy
// CHECK: zero.state constant @arg0 : tensor<4x8xf32>{{.*}}zero.sharded_dim = 1 : i64
// CHECK: zero.state constant @arg1 : tensor<8xf32>
// CHECK-NOT: zero.sharded_dim
// CHECK: func.func @step(%{{.*}}: tensor<12x4xf32> {zero.binding = "arg2", zero.split})

// SIZES-NOT: zero.program_mesh
// SIZES: zero.sharded_dim = 1 : i64
// WHOLE-NOT: zero.sharded_dim
// WHOLE: zero.split

// REMARK: the mesh is the program's: data=6 (its 'replica', 'fsdp'), tensor=4 (its 'model'); --mesh or --ranks sets other sizes
// REMARK: the program shards state over the ranks of its batch: --zero-stage=3 does that, 1 and 2 shard less
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["replica"=2, "fsdp"=3, "one"=1, "model"=4]>}> : () -> ()
func.func @main(%w: tensor<4x8xf32> {zero.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, [{"fsdp", ?}, {"one", "model"}p1], replicated={"replica"}>},
                %b: tensor<8xf32> {zero.role = "buffer", sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>},
                %x: tensor<12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"replica", "fsdp"}, {?}]>})
    -> tensor<f32> {
  %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
  %h = onnx.node "Gemm"(%x, %w, %b) {} opset 23
      : (tensor<12x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<12x8xf32>
  %l = onnx.node "ReduceSum"(%h, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<12x8xf32>, tensor<2xi64>) -> tensor<f32>
  return %l : tensor<f32>
}
