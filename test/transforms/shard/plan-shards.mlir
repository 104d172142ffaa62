// RUN: zero-opt %s --split-input-file --zero-plan-shards=mesh=data=2,tensor=2 | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-plan-shards=mesh=data=4 | FileCheck %s --check-prefix=DATA
// RUN: zero-opt %s --split-input-file --zero-plan-shards=mesh=tensor=2 --remark-format=emitRemark --remarks-filter=tensor -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// DATA-NOT: zero.mesh
// DATA-NOT: zero.shard

// A pair of products: the first by columns, with the row that it adds, the second by rows. What the
// second adds stays whole.
// CHECK-LABEL: module attributes {zero.mesh = #zero.mesh<data = 2, tensor = 2>}
// CHECK: zero.parameter @w1 : tensor<8x16xf32> {zero.shard = #zero.shard<1, [@tensor]>}
// CHECK: zero.parameter @b1 : tensor<16xf32> {zero.shard = #zero.shard<0, [@tensor]>}
// CHECK: zero.parameter @w2 : tensor<16x8xf32> {zero.shard = #zero.shard<0, [@tensor]>}
// CHECK: zero.parameter @b2 : tensor<8xf32>{{$}}
// REMARK: parameter 'w1': dimension 1 of tensor<8x16xf32> over 2 ranks
module {
  zero.parameter @w1 : tensor<8x16xf32>
  zero.parameter @b1 : tensor<16xf32>
  zero.parameter @w2 : tensor<16x8xf32>
  zero.parameter @b2 : tensor<8xf32>
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %w1 = zero.read @w1 : tensor<8x16xf32>
    %b1 = zero.read @b1 : tensor<16xf32>
    %w2 = zero.read @w2 : tensor<16x8xf32>
    %b2 = zero.read @b2 : tensor<8xf32>
    %h = onnx.node "Gemm"(%x, %w1, %b1) {} opset 18 node "fc1" : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
    %a = onnx.node "Relu"(%h) {} opset 18 node "act" : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %y = onnx.node "Gemm"(%a, %w2, %b2) {} opset 18 node "fc2" : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// A softmax along the columns needs all of them.
// CHECK-LABEL: module
// CHECK-NOT: zero.shard =
// REMARK: Gemm node 'fc1' stays whole: Softmax node 'act' cannot compute with a shard of dimension 1 of tensor<4x16xf32>
module {
  zero.parameter @w1 : tensor<8x16xf32>
  zero.parameter @w2 : tensor<16x8xf32>
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %w1 = zero.read @w1 : tensor<8x16xf32>
    %w2 = zero.read @w2 : tensor<16x8xf32>
    %h = onnx.node "Gemm"(%x, %w1) {} opset 18 node "fc1" : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %a = onnx.node "Softmax"(%h) {axis = -1 : i64} opset 18 node "act" : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %y = onnx.node "Gemm"(%a, %w2) {} opset 18 node "fc2" : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// A dimension that the ranks do not divide.
// CHECK-LABEL: module
// CHECK-NOT: zero.shard =
// REMARK: Gemm node 'fc1' stays whole: 2 ranks do not divide dimension 1 of tensor<8x15xf32>
module {
  zero.parameter @w1 : tensor<8x15xf32>
  zero.parameter @w2 : tensor<15x8xf32>
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %w1 = zero.read @w1 : tensor<8x15xf32>
    %w2 = zero.read @w2 : tensor<15x8xf32>
    %h = onnx.node "Gemm"(%x, %w1) {} opset 18 node "fc1" : (tensor<4x8xf32>, tensor<8x15xf32>) -> tensor<4x15xf32>
    %y = onnx.node "Gemm"(%h, %w2) {} opset 18 node "fc2" : (tensor<4x15xf32>, tensor<15x8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// Heads of one joint projection: those of queries, of keys and of values are cut by themselves.
// CHECK-LABEL: module
// CHECK: zero.parameter @qkv : tensor<8x24xf32> {zero.shard = #zero.shard<1, [@tensor], 8, 8, 8>}
// CHECK: zero.parameter @o : tensor<8x8xf32> {zero.shard = #zero.shard<0, [@tensor]>}
module {
  zero.parameter @qkv : tensor<8x24xf32>
  zero.parameter @o : tensor<8x8xf32>
  func.func @step(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %w = zero.read @qkv : tensor<8x24xf32>
    %v = zero.read @o : tensor<8x8xf32>
    %none = onnx.none
    %p = onnx.node "MatMul"(%x, %w) {} opset 18 node "qkv" : (tensor<2x4x8xf32>, tensor<8x24xf32>) -> tensor<2x4x24xf32>
    %a:2 = onnx.node "Attention"(%p, %none, %none, %none, %none) {packed_heads = array<i64: 4, 4>, rows_first = array<i64: 1, 1, 1, 1>, scale = 1.0 : f32} domain "zero" opset 1 node "attn" : (tensor<2x4x24xf32>, none, none, none, none) -> (tensor<2x4x4x2xf32>, tensor<2x4x4xf32>)
    %f = onnx.node "Reshape"(%a#0) {} opset 18 node "flat" : (tensor<2x4x4x2xf32>) -> tensor<2x4x8xf32>
    %y = onnx.node "MatMul"(%f, %v) {} opset 18 node "out" : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    return %y : tensor<2x4x8xf32>
  }
}

// -----

// A pair of convolutions: the first by its output channels, the second by its input channels.
// CHECK-LABEL: module
// CHECK: zero.parameter @k1 : tensor<8x3x3x3xf32> {zero.shard = #zero.shard<0, [@tensor]>}
// CHECK: zero.parameter @c1 : tensor<8xf32> {zero.shard = #zero.shard<0, [@tensor]>}
// CHECK: zero.parameter @k2 : tensor<6x8x1x1xf32> {zero.shard = #zero.shard<1, [@tensor]>}
// CHECK: zero.parameter @c2 : tensor<6xf32>{{$}}
// REMARK: parameter 'k1': dimension 0 of tensor<8x3x3x3xf32> over 2 ranks
module {
  zero.parameter @k1 : tensor<8x3x3x3xf32>
  zero.parameter @c1 : tensor<8xf32>
  zero.parameter @k2 : tensor<6x8x1x1xf32>
  zero.parameter @c2 : tensor<6xf32>
  func.func @step(%x: tensor<4x3x5x5xf32>) -> tensor<4x6x3x3xf32> {
    %k1 = zero.read @k1 : tensor<8x3x3x3xf32>
    %c1 = zero.read @c1 : tensor<8xf32>
    %k2 = zero.read @k2 : tensor<6x8x1x1xf32>
    %c2 = zero.read @c2 : tensor<6xf32>
    %h = onnx.node "Conv"(%x, %k1, %c1) {} opset 18 node "conv1" : (tensor<4x3x5x5xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<4x8x3x3xf32>
    %a = onnx.node "Relu"(%h) {} opset 18 node "act" : (tensor<4x8x3x3xf32>) -> tensor<4x8x3x3xf32>
    %y = onnx.node "Conv"(%a, %k2, %c2) {} opset 18 node "conv2" : (tensor<4x8x3x3xf32>, tensor<6x8x1x1xf32>, tensor<6xf32>) -> tensor<4x6x3x3xf32>
    return %y : tensor<4x6x3x3xf32>
  }
}
