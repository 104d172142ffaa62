// RUN: zero-opt %s --zero-expand-nodes | FileCheck %s

// Rank r of 2 attends to its own 4 tokens with the mask, then to chunks of the other rank without:
// late queries to early keys, and, if the other rank comes first, early queries to early keys, or
// else late ones to late ones. Both heads of keys are gathered by themselves.
// CHECK: func.func @step({{.*}}, %[[R:.*]]: tensor<i64> {zero.binding = "zero.coordinate.context"})
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64, {{.*}} : (tensor<1x2x4x8xf32>, tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>, none, none) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>)
// CHECK: %[[KEYS:.*]] = onnx.node "AxisGather"({{.*}}) {over = "context", ranks = 2 : i64} {{.*}} -> tensor<2x1x1x4x8xf32>
// CHECK: %[[VALUES:.*]] = onnx.node "AxisGather"
// CHECK: %[[K:.*]] = onnx.node "Gather"(%[[KEYS]], %{{.*}}) {axis = 0 : i64} {{.*}} -> tensor<1x1x4x8xf32>
// CHECK: %[[CHUNKS:.*]]:2 = onnx.node "Split"(%[[K]])
// CHECK: onnx.node "Attention"(%{{.*}}, %[[CHUNKS]]#0, {{.*}}) {causal = 0 : i64, {{.*}} -> (tensor<1x2x2x8xf32>, tensor<1x2x2xf32>)
// CHECK: %[[BEHIND:.*]] = onnx.node "GreaterOrEqual"(%[[R]],
// CHECK: %[[EITHER:.*]] = onnx.node "Where"(%[[BEHIND]], %[[CHUNKS]]#0, %[[CHUNKS]]#1)
// CHECK: onnx.node "Attention"(%{{.*}}, %[[EITHER]], {{.*}}) {causal = 0 : i64
// CHECK: %[[AHEAD:.*]] = onnx.node "Not"(%[[BEHIND]])
// CHECK: onnx.node "Where"(%[[AHEAD]],
// CHECK: onnx.node "Where"(%[[BEHIND]],
// The other head.
// CHECK: onnx.node "AxisGather"
// CHECK: onnx.node "AxisGather"
// CHECK-NOT: onnx.node "AxisGather"
// What the result is divided by is computed for all heads, before it is divided.
// CHECK: %[[TOP:.*]] = onnx.node "Concat"({{.*}} -> tensor<1x4x4xf32>
// CHECK: %[[LSE:.*]] = onnx.node "Concat"({{.*}} -> tensor<1x4x4xf32>
// CHECK: onnx.node "Exp"
// CHECK: return %{{.*}}, %[[LSE]]
// CHECK-NOT: ContextAttention
func.func @step(%q: tensor<1x4x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> (tensor<1x4x4x8xf32>, tensor<1x4x4xf32>) {
  %none = onnx.none
  %a:2 = onnx.node "ContextAttention"(%q, %k, %v, %none, %none) {causal = 1 : i64, fill = -1.0 : f32, over = "context", ranks = 2 : i64, scale = 0.5 : f32} domain "zero" opset 1 node "attention" : (tensor<1x4x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, none, none) -> (tensor<1x4x4x8xf32>, tensor<1x4x4xf32>)
  return %a#0, %a#1 : tensor<1x4x4x8xf32>, tensor<1x4x4xf32>
}
