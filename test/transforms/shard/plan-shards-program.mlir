// Shards that the program says (zero.sharded_dim) are the plan: also where `auto` would choose
// others, and in the parts that a Split makes of columns.
// RUN: zero-opt %s --zero-plan-shards=mesh=tensor=2 | FileCheck %s
// RUN: not zero-opt %s --zero-plan-shards=mesh=tensor=3 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: echo 'w2: rowwise' > %t.plan
// RUN: zero-opt %s --zero-plan-shards="mesh=tensor=2 plan=%t.plan" | FileCheck %s --check-prefix=FILE

// CHECK-NOT: zero.sharded_dim
// CHECK: zero.parameter @w1 : tensor<8x16xf32> {zero.shard = #zero.shard<1, [@tensor], 8, 8>}
// CHECK: zero.parameter @b1 : tensor<16xf32> {zero.shard = #zero.shard<0, [@tensor], 8, 8>}
// CHECK: zero.parameter @w2 : tensor<8x8xf32>{{$}}
// CHECK: zero.parameter @g : tensor<8xf32> {zero.shard = #zero.shard<0, [@tensor]>}

// DIVIDE: the program's shardings: expected a number of ranks that divides dimension 1 of 'w1', 16 indices, got 3

// FILE-NOT: zero.sharded_dim
// FILE: zero.parameter @w1 : tensor<8x16xf32>{{$}}
// FILE: zero.parameter @w2 : tensor<8x8xf32> {zero.shard = #zero.shard<0, [@tensor]>}
module {
  zero.parameter @w1 : tensor<8x16xf32> {zero.sharded_dim = 1 : i64}
  zero.parameter @b1 : tensor<16xf32> {zero.sharded_dim = 0 : i64}
  zero.parameter @w2 : tensor<8x8xf32>
  zero.parameter @g : tensor<8xf32> {zero.sharded_dim = 0 : i64}
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %w1 = zero.read @w1 : tensor<8x16xf32>
    %b1 = zero.read @b1 : tensor<16xf32>
    %w2 = zero.read @w2 : tensor<8x8xf32>
    %g = zero.read @g : tensor<8xf32>
    %p = onnx.node "MatMul"(%x, %w1) {} opset 18 node "fc1" : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %h = onnx.node "Add"(%p, %b1) {} opset 18 node "bias" : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %a:2 = onnx.node "Split"(%h) {axis = 1 : i64, split = array<i64: 8, 8>} opset 18 node "halves" : (tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    %m = onnx.node "Mul"(%a#0, %a#1) {} opset 18 node "gate" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %y = onnx.node "MatMul"(%m, %w2) {} opset 18 node "fc2" : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %z = onnx.node "Mul"(%y, %g) {} opset 18 node "scale" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    return %z : tensor<4x8xf32>
  }
}
