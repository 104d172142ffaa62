// RUN: zero-opt %s --zero-sync-batchnorm --zero-expand-nodes --verify-diagnostics --split-input-file | FileCheck %s

// Computes the mean over ranks first, then the variance around it.
// CHECK: module attributes {zero.sync_batchnorm}
// CHECK-LABEL: func.func @step
// CHECK: %[[LOCAL:.*]]:2 = onnx.node "BatchMoments"
// CHECK: %[[MEAN:.*]] = onnx.node "RankMean"(%[[LOCAL]]#0)
// CHECK: %[[SHIFT:.*]] = onnx.node "Sub"(%[[LOCAL]]#0, %[[MEAN]])
// CHECK: %[[SQUARE:.*]] = onnx.node "Mul"(%[[SHIFT]], %[[SHIFT]])
// CHECK: %[[AROUND:.*]] = onnx.node "Add"(%[[LOCAL]]#1, %[[SQUARE]])
// CHECK: %[[VAR:.*]] = onnx.node "RankMean"(%[[AROUND]])
// CHECK: %[[M:.*]] = onnx.node "Where"(%[[TRAINING:.*]], %[[MEAN]], %{{.*}})
// CHECK: %[[V:.*]] = onnx.node "Where"(%[[TRAINING]], %[[VAR]], %{{.*}})
// CHECK: onnx.node "BatchNormalization"(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]], %[[V]])
func.func @step(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>) -> tensor<4x3x2xf32> {
  %y = onnx.node "BatchNormalization"(%x, %s, %s, %m, %m) {training_mode = 1 : i64} opset 15 node "n" : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
  return %y : tensor<4x3x2xf32>
}

// -----

// expected-error @+1 {{--sync-batchnorm has no effect: no BatchNormalization of the model is in training mode}}
module {
  func.func @step(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>) -> tensor<4x3x2xf32> {
    %y = onnx.node "BatchNormalization"(%x, %s, %s, %m, %m) {} opset 15 node "n" : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
    return %y : tensor<4x3x2xf32>
  }
}
