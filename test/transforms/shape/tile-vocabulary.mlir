// RUN: zero-opt %s --zero-tile-vocabulary=bytes=24 | FileCheck %s

// 3 + 2 classes, and 4 rows in tiles of 2: for each part of the classes, the tiles of rows.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<4x8xf32>, %labels: tensor<4xi64>, %a: tensor<3x8xf32>, %b: tensor<2x8xf32>, %d: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<4x8xf32>, tensor<3x8xf32>, tensor<2x8xf32>) {
  %none = onnx.none
  %s:3 = onnx.node "ProjectionLoss"(%x, %labels, %none, %a, %b) {ignore_index = 0 : i64, transB = 1 : i64} domain "zero" opset 1 node "loss"
      : (tensor<4x8xf32>, tensor<4xi64>, none, tensor<3x8xf32>, tensor<2x8xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>)
  %g:3 = onnx.node "ProjectionLossGrad"(%d, %s#2, %x, %labels, %none, %a, %b) {ignore_index = 0 : i64, transB = 1 : i64} domain "zero" opset 1 node "loss"
      : (tensor<f32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xi64>, none, tensor<3x8xf32>, tensor<2x8xf32>) -> (tensor<4x8xf32>, tensor<3x8xf32>, tensor<2x8xf32>)
  return %s#0, %s#1, %g#0, %g#1, %g#2 : tensor<f32>, tensor<f32>, tensor<4x8xf32>, tensor<3x8xf32>, tensor<2x8xf32>
}
// CHECK: %[[X0:.*]] = zero.member %arg0 at 0 : (tensor<4x8xf32>) -> tensor<2x8xf32>
// CHECK: %[[L:.*]] = onnx.node "Contract"(%[[X0]], %arg2) {transA = 0 : i64, transB = 1 : i64} {{.*}} -> tensor<2x3xf32>
// CHECK: %[[S0:.*]]:3 = onnx.node "LossPart"(%[[L]], %{{.*}}) {begin = 0 : i64}
// CHECK: zero.member %arg0 at 16
// CHECK: %[[S1:.*]]:3 = onnx.node "LossPart"(%{{.*}}) {begin = 0 : i64}
// CHECK: onnx.node "Contract"(%{{.*}}, %arg3) {{.*}} -> tensor<2x2xf32>
// CHECK: %[[T0:.*]]:3 = onnx.node "LossPart"(%{{.*}}, %[[S0]]#0, %[[S0]]#1, %[[S0]]#2) {begin = 3 : i64}
// CHECK: %[[T1:.*]]:3 = onnx.node "LossPart"(%{{.*}}, %[[S1]]#0, %[[S1]]#1, %[[S1]]#2) {begin = 3 : i64}
// CHECK: %[[E0:.*]]:3 = onnx.node "LossEnd"(%[[T0]]#0, %[[T0]]#1, %[[T0]]#2, %{{.*}}) {classes = 5 : i64, ignore_index = 0 : i64}
// CHECK: %[[E1:.*]]:3 = onnx.node "LossEnd"(%[[T1]]#0
// CHECK: onnx.node "Add"(%[[E1]]#0, %[[E0]]#0)
// CHECK: zero.bucket(%[[E0]]#2, %[[E1]]#2) at [0, 2]

// Backward recomputes the scores of one part of the classes at a time.
// CHECK: %[[L0:.*]] = onnx.node "Contract"(%{{.*}}, %arg2) {{.*}} -> tensor<2x3xf32>
// CHECK: %[[G0:.*]] = onnx.node "CrossEntropyGrad"(%arg4, %[[L0]], %{{.*}}, %{{.*}}) {begin = 0 : i64, classes = 5 : i64, ignore_index = 0 : i64}
// CHECK: %[[DX0:.*]] = onnx.node "Contract"(%[[G0]], %arg2) {transA = 0 : i64, transB = 0 : i64} {{.*}} -> tensor<2x8xf32>
// CHECK: %[[DA0:.*]] = onnx.node "Contract"(%[[G0]], %{{.*}}) {transA = 1 : i64, transB = 0 : i64} {{.*}} -> tensor<3x8xf32>
// CHECK: onnx.node "CrossEntropyGrad"
// CHECK: %[[DA:.*]] = onnx.node "Add"(%{{.*}}, %[[DA0]])
// CHECK: onnx.node "CrossEntropyGrad"(%{{.*}}) {begin = 3 : i64
// CHECK: %[[DX:.*]] = onnx.node "Add"(%{{.*}}, %[[DX0]])
// CHECK: %[[DB0:.*]] = onnx.node "Contract"({{.*}}) {transA = 1 : i64
// CHECK: onnx.node "CrossEntropyGrad"(%{{.*}}) {begin = 3 : i64
// CHECK: %[[DX1:.*]] = onnx.node "Add"
// CHECK: %[[DB:.*]] = onnx.node "Add"(%{{.*}}, %[[DB0]])
// CHECK: zero.bucket(%[[DX]], %[[DX1]]) at [0, 16]
// CHECK: return {{.*}}, %[[DA]], %[[DB]] :
