// RUN: zero-opt %s --split-input-file --zero-expand-nodes | FileCheck %s

// Chunks have 2 tokens, so a prefix of 5 has keys in chunks 0, 1 and 2. Rank r of 2 has chunk r and
// chunk 3 - r. Causal products show the keys up to a query.
// CHECK: func.func @step({{.*}}, %[[SEGMENTS:.*]]: tensor<1x8xi64>, %[[R:.*]]: tensor<i64> {zero.binding = "zero.coordinate.context"})
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64,
// CHECK: %[[KEYS:.*]] = onnx.node "AxisGather"({{.*}}) {over = "context", ranks = 2 : i64} {{.*}} -> tensor<2x1x1x4x8xf32>
// The rank's own keys: segments hide queries of chunk 3, and keys from 5 on.
// CHECK: onnx.node "Sub"(%{{.*}}, %[[R]])
// CHECK-NEXT: %[[CHUNKS:.*]] = arith.constant dense<3> : tensor<i64>
// CHECK-NEXT: %[[THERE:.*]] = onnx.node "Less"(%[[R]], %[[CHUNKS]])
// CHECK: %[[EARLY:.*]] = onnx.node "Where"(%[[THERE]],
// CHECK: %[[PREFIX:.*]] = arith.constant dense<5> : tensor<i64>
// CHECK: onnx.node "Less"(%{{.*}}, %[[PREFIX]]) {{.*}} -> tensor<2xi1>
// CHECK: %[[LATE:.*]] = onnx.node "Where"(
// CHECK: %[[OWN_QUERIES:.*]] = onnx.node "Concat"(%[[EARLY]],
// CHECK: %[[OWN_KEYS:.*]] = onnx.node "Concat"(
// Chunk 1, of rank 1: the early queries of rank 0 are in front of it.
// CHECK: onnx.node "Equal"(%[[R]],
// CHECK: %[[KEYS_1:.*]] = onnx.node "Where"({{.*}}) {{.*}} -> tensor<1x2xi64>
// CHECK: %[[FROM_1:.*]] = onnx.node "GreaterOrEqual"(%[[R]],
// CHECK: %[[BEFORE_1:.*]] = onnx.node "Not"(%[[FROM_1]])
// CHECK: %[[QUERIES_1:.*]] = onnx.node "Where"(%[[BEFORE_1]],
// Chunk 2, of rank 1: all early queries are in front of it, and late ones from rank 2 on.
// CHECK: %[[KEYS_2:.*]] = onnx.node "Where"({{.*}}) {{.*}} -> tensor<1x2xi64>
// CHECK: %[[TWO:.*]] = arith.constant dense<2> : tensor<i64>
// CHECK-NEXT: %[[FROM_2:.*]] = onnx.node "GreaterOrEqual"(%[[R]], %[[TWO]])
// CHECK: %[[LATE_2:.*]] = onnx.node "Where"(%[[FROM_2]],
// CHECK: %[[QUERIES_2:.*]] = onnx.node "Concat"(%{{.*}}, %[[LATE_2]])
// CHECK: onnx.node "Attention"({{.*}}, %[[OWN_QUERIES]], %[[OWN_KEYS]]) {causal = 0 : i64, {{.*}} offset = 1 : i64, {{.*}} window = 1 : i64} {{.*}} : (tensor<1x1x4x8xf32>,
// CHECK: onnx.node "Attention"({{.*}}, %[[QUERIES_1]], %[[KEYS_1]]) {causal = 0 : i64, {{.*}} window = 0 : i64} {{.*}} : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>,
// CHECK: onnx.node "Attention"({{.*}}, %[[QUERIES_2]], %[[KEYS_2]]) {causal = 0 : i64, {{.*}} window = 0 : i64} {{.*}} : (tensor<1x1x4x8xf32>, tensor<1x1x2x8xf32>,
// CHECK-NOT: onnx.node "Attention"
func.func @step(%q: tensor<1x1x4x8xf32>, %k: tensor<1x1x4x8xf32>, %v: tensor<1x1x4x8xf32>, %s: tensor<1x8xi64>) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>) {
  %none = onnx.none
  %a:2 = onnx.node "ContextAttention"(%q, %k, %v, %none, %none, %s, %s) {causal = 1 : i64, fill = -1.0 : f32, over = "context", prefix = 5 : i64, ranks = 2 : i64, scale = 0.5 : f32} domain "zero" opset 1 node "attention" : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, none, none, tensor<1x8xi64>, tensor<1x8xi64>) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>)
  return %a#0, %a#1 : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
}

// -----

// No chunk is in front of chunk 0: one more product, of the rank's own rows, and no constant
// segments, also without documents.
// CHECK: func.func @short
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64,
// CHECK: onnx.node "Attention"({{.*}}, %[[Q:[0-9]+]], %[[K:[0-9]+]]) {causal = 0 : i64, {{.*}} offset = 1 : i64, {{.*}} window = 1 : i64}
// CHECK-NOT: onnx.node "Attention"({{.*}} offset = 1 : i64
func.func @short(%q: tensor<1x1x4x8xf32>, %k: tensor<1x1x4x8xf32>, %v: tensor<1x1x4x8xf32>) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>) {
  %none = onnx.none
  %a:2 = onnx.node "ContextAttention"(%q, %k, %v, %none, %none) {causal = 1 : i64, fill = -1.0 : f32, over = "context", prefix = 2 : i64, ranks = 2 : i64, scale = 0.5 : f32} domain "zero" opset 1 node "attention" : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, none, none) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>)
  return %a#0, %a#1 : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
}
