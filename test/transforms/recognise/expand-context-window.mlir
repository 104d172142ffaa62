// RUN: zero-opt %s --split-input-file --zero-expand-nodes | FileCheck %s

// Chunks have 2 tokens. Rank r of 2 has chunk r and chunk 3 - r; both attend to their own keys and
// to the chunk before them, of which a window of 3 tokens shows what is 1 token behind the query.
// Chunk 0 has none before it: keys of others have other segments than its queries.
// CHECK: func.func @step({{.*}}, %[[SEGMENTS:.*]]: tensor<1x8xi64>, %[[R:.*]]: tensor<i64> {zero.binding = "zero.coordinate.context"})
// CHECK: %[[OWN:.*]] = onnx.node "Gather"(%[[SEGMENTS]], %{{.*}}) {axis = 1 : i64} {{.*}} -> tensor<1x4xi64>
// CHECK: %[[QUERIES:.*]]:2 = onnx.node "Split"(%{{.*}}) {axis = 1 : i64} {{.*}} : (tensor<1x4xi64>) ->
// CHECK: %[[KEYS:.*]] = onnx.node "AxisGather"({{.*}}) {over = "context", ranks = 2 : i64} {{.*}} -> tensor<2x1x1x4x8xf32>
// CHECK: onnx.node "Attention"(%{{.*}}, %[[QUERIES]]#0, %{{.*}}) {causal = 1 : i64, {{.*}} offset = 0 : i64, {{.*}} window = 3 : i64}
// CHECK: %[[ONE:.*]] = arith.constant dense<1> : tensor<i64>
// CHECK: %[[BEFORE:.*]] = onnx.node "Sub"(%[[R]], %[[ONE]])
// CHECK: %[[THERE:.*]] = onnx.node "GreaterOrEqual"(%[[BEFORE]],
// CHECK: %[[CHUNK:.*]] = onnx.node "Where"(%[[THERE]], %[[BEFORE]],
// CHECK: onnx.node "Gather"(%[[KEYS]], %[[CHUNK]]) {axis = 0 : i64}
// CHECK: %[[OF_CHUNK:.*]] = onnx.node "Gather"(%[[SEGMENTS]], %{{.*}}) {axis = 1 : i64} {{.*}} -> tensor<1x2xi64>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<1x2xi64>
// CHECK: %[[Q:.*]] = onnx.node "Where"(%[[THERE]], %[[QUERIES]]#0, %[[ZERO]])
// CHECK: %[[OTHER:.*]] = arith.constant dense<1> : tensor<1x2xi64>
// CHECK: %[[K:.*]] = onnx.node "Where"(%[[THERE]], %[[OF_CHUNK]], %[[OTHER]])
// CHECK: onnx.node "Attention"(%{{.*}}, %[[Q]], %[[K]]) {causal = 0 : i64, {{.*}} offset = 0 : i64, {{.*}} window = 1 : i64}
// The late chunk. The one before it is late, too, on rank 0.
// CHECK: onnx.node "Attention"(%{{.*}}, %[[QUERIES]]#1, %{{.*}}) {causal = 1 : i64, {{.*}} offset = 0 : i64, {{.*}} window = 3 : i64}
// CHECK: %[[LATE:.*]] = onnx.node "GreaterOrEqual"(%{{.*}}, %{{.*}}) {{.*}} -> tensor<i1>
// CHECK: %[[OWNER:.*]] = onnx.node "Where"(%[[LATE]],
// CHECK: onnx.node "Gather"(%[[KEYS]], %[[OWNER]]) {axis = 0 : i64}
// CHECK: onnx.node "Attention"(%{{.*}}, %[[QUERIES]]#1, %{{.*}}) {causal = 0 : i64, {{.*}} offset = 0 : i64, {{.*}} window = 1 : i64}
// CHECK-NOT: onnx.node "Attention"
// A row that has seen no key has the logarithm infinity.
// CHECK: %[[NONE:.*]] = onnx.node "Less"(%[[SUM:.*]], %{{.*}}) {{.*}} -> tensor<1x1x2xi1>
// CHECK: %[[INFINITY:.*]] = arith.constant dense<0x7F800000> : tensor<f32>
// CHECK: onnx.node "Where"(%[[NONE]], %[[INFINITY]], %[[SUM]])
func.func @step(%q: tensor<1x1x4x8xf32>, %k: tensor<1x1x4x8xf32>, %v: tensor<1x1x4x8xf32>, %s: tensor<1x8xi64>) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>) {
  %none = onnx.none
  %a:2 = onnx.node "ContextAttention"(%q, %k, %v, %none, %none, %s, %s) {causal = 1 : i64, fill = -1.0 : f32, over = "context", ranks = 2 : i64, scale = 0.5 : f32, window = 3 : i64} domain "zero" opset 1 node "attention" : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, none, none, tensor<1x8xi64>, tensor<1x8xi64>) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>)
  return %a#0, %a#1 : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
}

// -----

// One key on either side: the chunk behind a query's own comes first, then the own one, then the
// chunk before it.
// CHECK: func.func @local
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64, {{.*}} offset = -1 : i64, {{.*}} window = 3 : i64}
// CHECK: onnx.node "Attention"({{.*}}) {causal = 0 : i64, {{.*}} offset = 0 : i64, {{.*}} window = 0 : i64}
// CHECK: onnx.node "Attention"({{.*}}) {causal = 0 : i64, {{.*}} offset = 1 : i64, {{.*}} window = 1 : i64}
func.func @local(%q: tensor<1x1x4x8xf32>, %k: tensor<1x1x4x8xf32>, %v: tensor<1x1x4x8xf32>) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>) {
  %none = onnx.none
  %a:2 = onnx.node "ContextAttention"(%q, %k, %v, %none, %none) {causal = 1 : i64, fill = -1.0 : f32, offset = 1 : i64, over = "context", ranks = 2 : i64, scale = 0.5 : f32, window = 3 : i64} domain "zero" opset 1 node "attention" : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, none, none) -> (tensor<1x1x4x8xf32>, tensor<1x1x4xf32>)
  return %a#0, %a#1 : tensor<1x1x4x8xf32>, tensor<1x1x4xf32>
}
