// RUN: zero-opt %s --zero-local-loss-mean | FileCheck %s
// RUN: zero-opt %s --zero-local-loss-mean --zero-expand-nodes | FileCheck %s --check-prefix=LOCAL
// RUN: zero-opt %s --zero-expand-nodes | FileCheck %s --check-prefix=GLOBAL

// CHECK: module attributes {zero.local_loss_mean}

// The number of labels is averaged over ranks unless each rank keeps its own.
// LOCAL-NOT: zero.rank_mean
// GLOBAL: zero.rank_mean
func.func @step(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
  %y = onnx.node "SoftmaxCrossEntropyLoss"(%s, %l) {reduction = "mean", ignore_index = -100 : i64} opset 13 node "loss" : (tensor<6x5xf32>, tensor<6xi64>) -> tensor<f32>
  return %y : tensor<f32>
}
