// RUN: zero-opt %s --zero-lower-onnx | FileCheck %s

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d1, 0)>
// CHECK-DAG: #[[$FULL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// The maps express NumPy broadcasting. A constant of equal elements is part of the body.
// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$ID]]]
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]]
// CHECK: %[[C:.*]] = arith.constant 2.0
// CHECK: arith.addf %{{.*}}, %[[C]] : f32
func.func @broadcast(%a: tensor<4x1x5xf32>, %b: tensor<3x1xf32>) -> tensor<4x3x5xf32> {
  %c = arith.constant dense<2.0> : tensor<f32>
  %y = onnx.node "Div"(%a, %b) {} opset 14 : (tensor<4x1x5xf32>, tensor<3x1xf32>) -> tensor<4x3x5xf32>
  %z = onnx.node "Add"(%y, %c) {} opset 14 : (tensor<4x3x5xf32>, tensor<f32>) -> tensor<4x3x5xf32>
  return %z : tensor<4x3x5xf32>
}

// Sums over rows and over columns are one loop nest each. Only these may be reordered.
// CHECK-LABEL: func.func @sums
// CHECK: linalg.generic {indexing_maps = [#[[$FULL]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc>
// CHECK: tensor.expand_shape {{.*}} : tensor<4xf32> into tensor<4x1xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$FULL]], #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]}
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc>
func.func @sums(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<8xf32>) {
  %a = onnx.node "ReduceSum"(%x) {axes = array<i64: -1>} opset 13 : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %b = onnx.node "ReduceSum"(%x) {axes = array<i64: 0>, keepdims = 0 : i64} opset 13 : (tensor<4x8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<4x1xf32>, tensor<8xf32>
}

// Small powers become products.
// CHECK-LABEL: func.func @cube
// CHECK-NOT: math
// CHECK: %[[S:.*]] = arith.mulf %[[X:.*]], %[[X]]
// CHECK: arith.mulf %[[X]], %[[S]]
func.func @cube(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant dense<3.0> : tensor<f32>
  %y = onnx.node "Pow"(%x, %c) {} opset 15 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// A label outside the classes is clamped before it is used to read a score, and the check stops the
// step.
// CHECK-LABEL: func.func @loss
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract
// CHECK: zero.check %{{.*}} in[0, 4] "labels of SoftmaxCrossEntropyLoss node 'loss' must lie in [0, 5)" : tensor<2xi64>
// CHECK: zero.check %{{.*}} in[1, 1] "no valid label in the batch: every label equals ignore_index" : tensor<2xi64>
func.func @loss(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
  %y:3 = onnx.node "CrossEntropySum"(%s, %l) {operator = "SoftmaxCrossEntropyLoss", ignore_index = -100 : i64} domain "zero" opset 1 node "loss" : (tensor<6x5xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>, tensor<6xf32>)
  %c = onnx.node "CheckPositive"(%y#1) {} domain "zero" opset 1 : (tensor<f32>) -> tensor<f32>
  return %c : tensor<f32>
}
