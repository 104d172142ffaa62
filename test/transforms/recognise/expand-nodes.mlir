// RUN: zero-opt %s --split-input-file --zero-expand-nodes | FileCheck %s

// The divisor of a mean is averaged over all ranks before the division.
// CHECK-LABEL: func.func @mean
// CHECK-SAME: (%[[S:.*]]: tensor<6x5xf32>, %[[L:.*]]: tensor<6xi64>)
// CHECK: %[[R:.*]]:3 = onnx.node "CrossEntropySum"(%[[S]], %[[L]]) {ignore_index = -100 : i64, operator = "SoftmaxCrossEntropyLoss"} domain "zero" opset 1 node "loss"
// CHECK-SAME: -> (tensor<f32>, tensor<f32>, tensor<6xf32>)
// The divisor depends only on the labels, over all micro-batches and ranks.
// CHECK: %[[N:.*]] = onnx.node "LabelWeights"(%[[L]]) {ignore_index = -100 : i64, operator = "SoftmaxCrossEntropyLoss"} domain "zero"
// CHECK: %[[M:.*]] = zero.micro_mean %[[N]]
// CHECK: %[[D:.*]] = zero.rank_mean %[[M]]
// CHECK: %[[C:.*]] = onnx.node "CheckPositive"(%[[D]])
// CHECK: %[[Y:.*]] = onnx.node "Div"(%[[R]]#0, %[[C]])
// CHECK: return %[[Y]]
func.func @mean(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
  %y = onnx.node "SoftmaxCrossEntropyLoss"(%s, %l) {ignore_index = -100 : i64, reduction = "mean"} opset 18 node "loss" : (tensor<6x5xf32>, tensor<6xi64>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @sum
// CHECK: %[[R:.*]]:3 = onnx.node "CrossEntropySum"
// CHECK: %[[P:.*]] = onnx.node "LogSoftmax"(%{{.*}}) {axis = 1 : i64}
// CHECK: return %[[R]]#0, %[[P]]
func.func @sum(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> (tensor<f32>, tensor<6x5xf32>) {
  %y:2 = onnx.node "SoftmaxCrossEntropyLoss"(%s, %l) {reduction = "sum"} opset 18 : (tensor<6x5xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<6x5xf32>)
  return %y#0, %y#1 : tensor<f32>, tensor<6x5xf32>
}

// An unread result costs nothing.
// CHECK-LABEL: func.func @unread
// CHECK-NOT: LogSoftmax
// CHECK: return
func.func @unread(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
  %y:2 = onnx.node "SoftmaxCrossEntropyLoss"(%s, %l) {reduction = "sum"} opset 18 : (tensor<6x5xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<6x5xf32>)
  return %y#0 : tensor<f32>
}

// CHECK-LABEL: func.func @none
// CHECK: %[[R:.*]]:2 = onnx.node "NllRows"
// CHECK: return %[[R]]#0
func.func @none(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<6xf32> {
  %y = onnx.node "NegativeLogLikelihoodLoss"(%s, %l) {reduction = "none"} opset 18 : (tensor<6x5xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// The batch "xy" comes first in a product of matrices, as libraries expect it. A product of vectors
// stays as it is.
// CHECK-LABEL: func.func @batch
// CHECK-DAG: %[[A:.*]] = onnx.node "Transpose"(%arg0) {perm = array<i64: 2, 3, 0, 1>} {{.*}} -> tensor<5x6x2x3xf32>
// CHECK-DAG: %[[B:.*]] = onnx.node "Transpose"(%arg1) {perm = array<i64: 2, 3, 0, 1>} {{.*}} -> tensor<5x6x3x4xf32>
// CHECK: %[[C:.*]] = onnx.node "Einsum"(%[[A]], %[[B]]) {equation = "xybi,xyio->xybo"}
// CHECK: onnx.node "Transpose"(%[[C]]) {perm = array<i64: 2, 3, 0, 1>} {{.*}} -> tensor<2x4x5x6xf32>
// CHECK: onnx.node "Einsum"(%arg0, %arg2) {equation = "bixy,ixy->bxy"}
func.func @batch(%a: tensor<2x3x5x6xf32>, %b: tensor<3x4x5x6xf32>, %c: tensor<3x5x6xf32>) -> (tensor<2x4x5x6xf32>, tensor<2x5x6xf32>) {
  %y = onnx.node "Einsum"(%a, %b) {equation = "bixy,ioxy->boxy"} opset 18 : (tensor<2x3x5x6xf32>, tensor<3x4x5x6xf32>) -> tensor<2x4x5x6xf32>
  %z = onnx.node "Einsum"(%a, %c) {equation = "bixy,ixy->bxy"} opset 18 : (tensor<2x3x5x6xf32>, tensor<3x5x6xf32>) -> tensor<2x5x6xf32>
  return %y, %z : tensor<2x4x5x6xf32>, tensor<2x5x6xf32>
}

// -----

// With --loss-mean=local each rank divides by its own count.
module attributes {zero.local_loss_mean} {
  // CHECK-LABEL: func.func @local
  // CHECK-NOT: zero.rank_mean
  // CHECK: onnx.node "CheckPositive"
  func.func @local(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
    %y = onnx.node "SoftmaxCrossEntropyLoss"(%s, %l) {} opset 18 : (tensor<6x5xf32>, tensor<6xi64>) -> tensor<f32>
    return %y : tensor<f32>
  }
}
