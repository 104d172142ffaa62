// RUN: zero-opt %s --split-input-file --zero-shard-tensors | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-shard-tensors=tokens | FileCheck %s --check-prefix=TOKENS

// CHECK-LABEL: module
// CHECK: zero.parameter @w1 : tensor<8x8xf32>
// CHECK: zero.parameter @w2 : tensor<8x8xf32>
// CHECK: %[[C:.*]] = onnx.node "AxisCopy"(%[[X:.*]]) {over = "tensor", ranks = 2 : i64}
// CHECK: %[[H:.*]] = onnx.node "Gemm"(%[[C]], %{{.*}}) {{.*}} -> tensor<4x8xf32>
// CHECK: %[[P:.*]] = onnx.node "Gemm"(%[[H]], %{{[^,]*}}) {{.*}} : (tensor<4x8xf32>, tensor<8x8xf32>)
// CHECK: %[[S:.*]] = onnx.node "AxisSum"(%[[P]])
// CHECK: onnx.node "Add"(%[[S]], %{{.*}}) {{.*}} -> tensor<4x8xf32>

// The sum is scattered, and what follows has a part of the tokens. A parameter that all ranks hold
// gets the sum of their gradients.
// TOKENS: %[[S:.*]] = onnx.node "AxisScatterSum"(%{{.*}}) {{.*}} : (tensor<2x2x8xf32>) -> tensor<2x8xf32>
// TOKENS: %[[B:.*]] = onnx.node "AxisCopy"(%{{.*}}) {{.*}} : (tensor<8xf32>) -> tensor<8xf32>
// TOKENS: onnx.node "Add"(%[[S]], %[[B]]) {{.*}} -> tensor<2x8xf32>
module attributes {zero.mesh = #zero.mesh<data = 2, tensor = 2>} {
  zero.parameter @e : tensor<8xf32>
  zero.parameter @w1 : tensor<8x16xf32> {zero.shard = #zero.shard<1, [@tensor]>}
  zero.parameter @w2 : tensor<16x8xf32> {zero.shard = #zero.shard<0, [@tensor]>}
  zero.parameter @b2 : tensor<8xf32>
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %e = zero.read @e : tensor<8xf32>
    %w1 = zero.read @w1 : tensor<8x16xf32>
    %w2 = zero.read @w2 : tensor<16x8xf32>
    %b2 = zero.read @b2 : tensor<8xf32>
    %i = onnx.node "Add"(%x, %e) {} opset 18 node "in" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %h = onnx.node "Gemm"(%i, %w1) {} opset 18 node "fc1" : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %y = onnx.node "Gemm"(%h, %w2, %b2) {} opset 18 node "fc2" : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// A node that has no rule reads whole tensors.
// CHECK-LABEL: module
// CHECK: %[[H:.*]] = onnx.node "MatMul"({{.*}} -> tensor<4x8xf32>
// CHECK: %[[G:.*]] = onnx.node "AxisGather"(%[[H]]) {{.*}} -> tensor<2x4x8xf32>
// CHECK: %[[T:.*]] = onnx.node "Transpose"(%[[G]]) {perm = array<i64: 1, 0, 2>}
// CHECK: %[[W:.*]] = onnx.node "Reshape"(%[[T]], {{.*}} -> tensor<4x16xf32>
// CHECK: onnx.node "Softmax"(%[[W]])
module attributes {zero.mesh = #zero.mesh<data = 1, tensor = 2>} {
  zero.parameter @w : tensor<8x16xf32> {zero.shard = #zero.shard<1, [@tensor]>}
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
    %w = zero.read @w : tensor<8x16xf32>
    %h = onnx.node "MatMul"(%x, %w) {} opset 18 node "fc" : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %y = onnx.node "Softmax"(%h) {axis = -1 : i64} opset 18 node "act" : (tensor<4x16xf32>) -> tensor<4x16xf32>
    return %y : tensor<4x16xf32>
  }
}

// -----

// A table of embeddings and classes: each rank gathers its rows, and has the scores of its classes.
// CHECK-LABEL: module
// CHECK: func.func @step(%{{.*}}: tensor<4xi64>, %[[AT:.*]]: tensor<i64> {zero.binding = "zero.coordinate.tensor"})
// CHECK: %[[R:.*]] = onnx.node "GatherShard"(%[[W:.*]], %[[IDS:.*]], %[[AT]]) {extent = 16 : i64}
// CHECK: %[[E:.*]] = onnx.node "AxisSum"(%[[R]])
// CHECK: %[[C:.*]] = onnx.node "AxisCopy"(%[[E]])
// CHECK: %[[S:.*]] = onnx.node "Contract"(%[[C]], %[[W]]) {{.*}} -> tensor<4x8xf32>
// CHECK: onnx.node "CrossEntropySum"(%[[S]], %[[IDS]], %{{.*}}, %[[AT]]) {classes = 16 : i64, over = "tensor", ranks = 2 : i64}
module attributes {zero.mesh = #zero.mesh<data = 1, tensor = 2>} {
  zero.parameter @w : tensor<16x8xf32> {zero.shard = #zero.shard<0, [@tensor]>}
  func.func @step(%ids: tensor<4xi64>) -> tensor<f32> {
    %w = zero.read @w : tensor<16x8xf32>
    %e = onnx.node "Gather"(%w, %ids) {} opset 18 node "embed" : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
    %s = onnx.node "Contract"(%e, %w) {transB = 1 : i64} domain "zero" opset 1 node "head" : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    %l:3 = onnx.node "CrossEntropySum"(%s, %ids) {} domain "zero" opset 1 node "loss" : (tensor<4x16xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>)
    return %l#0 : tensor<f32>
  }
}

// -----

// The bias of channels is added to the sum of the ranks, with dimensions of size one behind it. No
// tokens are cut: rows of a convolution's result are images.
// CHECK-LABEL: module
// CHECK: %[[P:.*]] = onnx.node "Conv"(%{{.*}}, %{{[^,]*}}) {{.*}} : (tensor<4x4x3x3xf32>, tensor<6x4x1x1xf32>) -> tensor<4x6x3x3xf32>
// CHECK: %[[S:.*]] = onnx.node "AxisSum"(%[[P]])
// CHECK: %[[B:.*]] = onnx.node "Reshape"(%{{.*}} -> tensor<6x1x1xf32>
// CHECK: onnx.node "Add"(%[[S]], %[[B]]) {{.*}} -> tensor<4x6x3x3xf32>
// TOKENS: onnx.node "AxisSum"({{.*}} -> tensor<4x6x3x3xf32>
module attributes {zero.mesh = #zero.mesh<data = 1, tensor = 2>} {
  zero.parameter @k1 : tensor<8x3x3x3xf32> {zero.shard = #zero.shard<0, [@tensor]>}
  zero.parameter @k2 : tensor<6x8x1x1xf32> {zero.shard = #zero.shard<1, [@tensor]>}
  zero.parameter @c2 : tensor<6xf32>
  func.func @step(%x: tensor<4x3x5x5xf32>) -> tensor<4x6x3x3xf32> {
    %k1 = zero.read @k1 : tensor<8x3x3x3xf32>
    %k2 = zero.read @k2 : tensor<6x8x1x1xf32>
    %c2 = zero.read @c2 : tensor<6xf32>
    %h = onnx.node "Conv"(%x, %k1) {} opset 18 node "conv1" : (tensor<4x3x5x5xf32>, tensor<8x3x3x3xf32>) -> tensor<4x8x3x3xf32>
    %y = onnx.node "Conv"(%h, %k2, %c2) {} opset 18 node "conv2" : (tensor<4x8x3x3xf32>, tensor<6x8x1x1xf32>, tensor<6xf32>) -> tensor<4x6x3x3xf32>
    return %y : tensor<4x6x3x3xf32>
  }
}
