// RUN: zero-opt %s --zero-expand-sharded-losses | FileCheck %s

// CHECK: %[[B:.*]] = onnx.node "Mul"(%arg2, %{{.*}})
// CHECK: %[[OWN:.*]] = onnx.node "Sub"(%arg1, %[[B]])
// CHECK: %[[P:.*]]:3 = onnx.node "LossPart"(%arg0, %[[OWN]]) {begin = 0 : i64}
// CHECK: %[[THREE:.*]] = onnx.node "Concat"(%{{.*}}) {axis = 1 : i64} {{.*}} -> tensor<1x3x4xf32>
// CHECK: %[[G:.*]] = onnx.node "AxisGather"(%[[THREE]]) {held = 1 : i64, over = "tensor", ranks = 2 : i64}
// CHECK: %[[J:.*]]:3 = onnx.node "LossJoin"(%{{.*}}) {{.*}} : (tensor<2x3x4xf32>)
// CHECK: %[[E:.*]]:3 = onnx.node "LossEnd"(%[[J]]#0, %[[J]]#1, %[[J]]#2, %arg1) {classes = 16 : i64
// CHECK: return %[[E]]#0
module attributes {zero.mesh = #zero.mesh<data = 1, tensor = 2>} {
  func.func @step(%scores: tensor<4x8xf32>, %labels: tensor<4xi64>, %at: tensor<i64> {zero.binding = "zero.coordinate.tensor"}) -> tensor<f32> {
    %none = onnx.none
    %l:3 = onnx.node "CrossEntropySum"(%scores, %labels, %none, %at) {classes = 16 : i64, over = "tensor", ranks = 2 : i64} domain "zero" opset 1 node "loss" : (tensor<4x8xf32>, tensor<4xi64>, none, tensor<i64>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>)
    return %l#0 : tensor<f32>
  }
}
