// RUN: zero-opt %s --split-input-file --zero-update-buffers | FileCheck %s

// If two nodes share their statistics, the second continues from the result of the first. A node
// outside of training mode, a parameter and a plain value do not change.
// CHECK-DAG: zero.state buffer @mean
// CHECK-DAG: zero.state buffer @var
// CHECK-DAG: zero.state constant @fixed
zero.state constant @mean : tensor<3xf32> {splat = 0.0}
zero.state constant @var : tensor<3xf32> {splat = 1.0}
zero.state constant @fixed : tensor<3xf32> {splat = 1.0}

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>) -> tensor<4x3x2xf32> {
  // CHECK-DAG: %[[MEAN:.*]] = zero.read @mean
  // CHECK-DAG: %[[VAR:.*]] = zero.read @var
  %m = zero.read @mean : tensor<3xf32>
  %v = zero.read @var : tensor<3xf32>
  %f = zero.read @fixed : tensor<3xf32>
  // CHECK: %[[FIRST:.*]]:3 = onnx.node "BatchNormalization"({{.*}}, %[[MEAN]], %[[VAR]]) {training_mode = 1 : i64, unbiased = 1 : i64}
  %a = onnx.node "BatchNormalization"(%x, %s, %s, %m, %v) {training_mode = 1 : i64} opset 15 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
  // CHECK: %[[SECOND:.*]]:3 = onnx.node "BatchNormalization"(%[[FIRST]]#0, {{.*}}, %[[FIRST]]#1, %[[FIRST]]#2)
  %b:2 = onnx.node "BatchNormalization"(%a, %s, %s, %m, %v) {training_mode = 1 : i64} opset 15 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x2xf32>, tensor<3xf32>)
  // CHECK: %[[LAST:.*]] = onnx.node "BatchNormalization"(%[[SECOND]]#0, {{.*}}) {} opset 15
  %c = onnx.node "BatchNormalization"(%b#0, %s, %s, %f, %f) {} opset 15 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
  // CHECK: zero.write @mean, %[[SECOND]]#1
  // CHECK-NEXT: zero.write @var, %[[SECOND]]#2
  // CHECK-NEXT: return %[[LAST]]
  return %c : tensor<4x3x2xf32>
}

// -----

// PyTorch's exporter lets a second call read an Identity of the statistics before the first.
zero.state constant @mean : tensor<3xf32> {splat = 0.0}
zero.state constant @var : tensor<3xf32> {splat = 1.0}

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<4x3x2xf32>, %s: tensor<3xf32>) -> tensor<4x3x2xf32> {
  %m = zero.read @mean : tensor<3xf32>
  %v = zero.read @var : tensor<3xf32>
  // CHECK: %[[FIRST:.*]]:3 = onnx.node "BatchNormalization"
  %a = onnx.node "BatchNormalization"(%x, %s, %s, %m, %v) {training_mode = 1 : i64} opset 15 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
  %m1 = onnx.node "Identity"(%m) {} opset 15 : (tensor<3xf32>) -> tensor<3xf32>
  %m2 = onnx.node "Identity"(%m1) {} opset 15 : (tensor<3xf32>) -> tensor<3xf32>
  %v1 = onnx.node "Identity"(%v) {} opset 15 : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %[[SECOND:.*]]:3 = onnx.node "BatchNormalization"(%[[FIRST]]#0, {{.*}}, %[[FIRST]]#1, %[[FIRST]]#2)
  %b = onnx.node "BatchNormalization"(%a, %s, %s, %m2, %v1) {training_mode = 1 : i64} opset 15 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
  // CHECK: zero.write @mean, %[[SECOND]]#1
  // CHECK-NEXT: zero.write @var, %[[SECOND]]#2
  return %b : tensor<4x3x2xf32>
}
