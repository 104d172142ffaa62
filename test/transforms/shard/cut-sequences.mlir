// RUN: zero-opt %s --split-input-file --zero-cut-sequences=mesh=data=2,context=2 | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-cut-sequences=mesh=data=4 | FileCheck %s --check-prefix=DATA

// DATA-NOT: zero.mesh
// DATA-NOT: zero.coordinate

// Rank r of 2 has tokens r and 3 - r of 4. Ids and positions are cut where they are looked up.
// Labels are shifted before they are cut: the second Slice reads all of them.
// CHECK-LABEL: module attributes {zero.mesh = #zero.mesh<data = 2, context = 2, tensor = 1>}
// CHECK: func.func @step(%[[IDS:.*]]: tensor<3x4xi64> {{.*}}, %[[LABELS:.*]]: tensor<3x4xi64> {{.*}}, %[[R:.*]]: tensor<i64> {zero.binding = "zero.coordinate.context"})
// CHECK-DAG: %[[E:.*]] = zero.read @e
// CHECK-DAG: %[[P:.*]] = zero.read @p
// CHECK: %[[STEP:.*]] = arith.constant dense<[1, -1]>
// CHECK: %[[SHIFT:.*]] = onnx.node "Mul"(%[[STEP]], %[[R]])
// CHECK: %[[FIRST:.*]] = arith.constant dense<[0, 3]>
// CHECK: %[[OWN:.*]] = onnx.node "Add"(%[[FIRST]], %[[SHIFT]])
// CHECK: %[[PART:.*]] = onnx.node "Gather"(%[[IDS]], %[[OWN]]) {axis = 1 : i64} {{.*}} -> tensor<3x2xi64>
// CHECK: %[[X:.*]] = onnx.node "Gather"(%[[E]], %[[PART]]) {{.*}} -> tensor<3x2x8xf32>
// CHECK: %[[POS:.*]] = onnx.node "Gather"(%[[P]], %{{.*}}) {axis = 0 : i64} {{.*}} -> tensor<2x8xf32>
// CHECK: %[[H:.*]] = onnx.node "Add"(%[[X]], %[[POS]]) {{.*}} -> tensor<3x2x8xf32>
// CHECK: %[[Q:.*]] = onnx.node "Reshape"(%[[H]], %{{.*}}) {{.*}} -> tensor<3x2x2x4xf32>
// CHECK: %[[A:.*]]:2 = onnx.node "ContextAttention"(%[[Q]], %[[Q]], %[[Q]], {{.*}} over = "context", ranks = 2 : i64, {{.*}} -> (tensor<3x2x2x4xf32>, tensor<3x2x2xf32>)
// CHECK: %[[SHIFTED:.*]] = onnx.node "Slice"(%[[LABELS]], {{.*}} -> tensor<3x3xi64>
// CHECK: %[[ALL:.*]] = onnx.node "Concat"({{.*}} -> tensor<3x4xi64>
// CHECK: %[[TARGETS:.*]] = onnx.node "Gather"(%[[ALL]], %{{.*}}) {axis = 1 : i64} {{.*}} -> tensor<3x2xi64>
// CHECK: %[[ROWS:.*]] = onnx.node "Reshape"(%[[TARGETS]], {{.*}} -> tensor<6xi64>
// CHECK: onnx.node "CrossEntropySum"(%{{.*}}, %[[ROWS]]) {{.*}} : (tensor<6x8xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>, tensor<6xf32>)
// What counts labels counts those of the rank.
// CHECK: onnx.node "LabelWeights"(%[[ROWS]])
module {
  zero.parameter @e : tensor<16x8xf32>
  zero.parameter @p : tensor<4x8xf32>
  func.func @step(%ids: tensor<3x4xi64> {zero.binding = "ids", zero.tokens}, %labels: tensor<3x4xi64> {zero.binding = "labels"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %e = zero.read @e : tensor<16x8xf32>
    %p = zero.read @p : tensor<4x8xf32>
    %none = onnx.none
    %x = onnx.node "Gather"(%e, %ids) {axis = 0 : i64} opset 18 node "embedding" : (tensor<16x8xf32>, tensor<3x4xi64>) -> tensor<3x4x8xf32>
    %h = onnx.node "Add"(%x, %p) {} opset 18 node "positions" : (tensor<3x4x8xf32>, tensor<4x8xf32>) -> tensor<3x4x8xf32>
    %s = arith.constant dense<[3, 4, 2, 4]> : tensor<4xi64>
    %q = onnx.node "Reshape"(%h, %s) {} opset 18 node "heads" : (tensor<3x4x8xf32>, tensor<4xi64>) -> tensor<3x4x2x4xf32>
    %a:2 = onnx.node "Attention"(%q, %q, %q, %none, %none) {causal = 1 : i64, fill = -1.0 : f32, rows_first = array<i64: 1, 1, 1, 1>, scale = 0.5 : f32} domain "zero" opset 1 node "attention" : (tensor<3x4x2x4xf32>, tensor<3x4x2x4xf32>, tensor<3x4x2x4xf32>, none, none) -> (tensor<3x4x2x4xf32>, tensor<3x2x4xf32>)
    %flat = arith.constant dense<[12, 8]> : tensor<2xi64>
    %y = onnx.node "Reshape"(%a#0, %flat) {} opset 18 node "rows" : (tensor<3x4x2x4xf32>, tensor<2xi64>) -> tensor<12x8xf32>
    %one = arith.constant dense<1> : tensor<1xi64>
    %four = arith.constant dense<4> : tensor<1xi64>
    %shifted = onnx.node "Slice"(%labels, %one, %four, %one, %one) {} opset 18 node "shift" : (tensor<3x4xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x3xi64>
    %end = arith.constant dense<-100> : tensor<3x1xi64>
    %all = onnx.node "Concat"(%shifted, %end) {axis = 1 : i64} opset 18 node "end" : (tensor<3x3xi64>, tensor<3x1xi64>) -> tensor<3x4xi64>
    %twelve = arith.constant dense<12> : tensor<1xi64>
    %l = onnx.node "Reshape"(%all, %twelve) {} opset 18 node "targets" : (tensor<3x4xi64>, tensor<1xi64>) -> tensor<12xi64>
    %loss:3 = onnx.node "CrossEntropySum"(%y, %l) {ignore_index = -100 : i64} domain "zero" opset 1 node "loss" : (tensor<12x8xf32>, tensor<12xi64>) -> (tensor<f32>, tensor<f32>, tensor<12xf32>)
    %w = onnx.node "LabelWeights"(%l) {ignore_index = -100 : i64} domain "zero" opset 1 node "count" : (tensor<12xi64>) -> tensor<f32>
    %mean = onnx.node "Div"(%loss#0, %w) {} opset 18 node "mean" : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %mean : tensor<f32>
  }
}
