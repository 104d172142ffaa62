// RUN: zero-opt %s --split-input-file --zero-tile-projection=bytes=64 | FileCheck %s

// 10 rows of 4 classes, 16 bytes each: tiles of 4, 4 and 2 rows. Losses and the gradients of weight
// and bias are summed. The rows of the other gradient are stored in one buffer.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<2x5x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>, %labels: tensor<10xi64>,
                %one: tensor<f32>) -> (tensor<f32>, tensor<10x3xf32>, tensor<3x4xf32>, tensor<4xf32>) {
  %l3 = onnx.node "Contract"(%x, %w) {} domain "zero" opset 1 node "head" : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  %lb = onnx.node "Add"(%l3, %b) {} opset 18 node "bias" : (tensor<2x5x4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  %shape = arith.constant dense<[10, 4]> : tensor<2xi64>
  %l = onnx.node "Reshape"(%lb, %shape) {} opset 18 node "view" : (tensor<2x5x4xf32>, tensor<2xi64>) -> tensor<10x4xf32>
  %s:3 = onnx.node "CrossEntropySum"(%l, %labels) {} domain "zero" opset 1 node "loss" : (tensor<10x4xf32>, tensor<10xi64>) -> (tensor<f32>, tensor<f32>, tensor<10xf32>)
  %d = onnx.node "Sqrt"(%one) {} opset 18 node "scale" : (tensor<f32>) -> tensor<f32>
  %g = onnx.node "CrossEntropyGrad"(%d, %l, %labels, %s#2) {} domain "zero" opset 1 node "loss" : (tensor<f32>, tensor<10x4xf32>, tensor<10xi64>, tensor<10xf32>) -> tensor<10x4xf32>
  %axes = arith.constant dense<0> : tensor<1xi64>
  %db = onnx.node "ReduceSum"(%g, %axes) {keepdims = 0 : i64} opset 18 node "bias" : (tensor<10x4xf32>, tensor<1xi64>) -> tensor<4xf32>
  %dx = onnx.node "Contract"(%g, %w) {transB = 1 : i64} domain "zero" opset 1 node "head" : (tensor<10x4xf32>, tensor<3x4xf32>) -> tensor<10x3xf32>
  %rows = arith.constant dense<[10, 3]> : tensor<2xi64>
  %x2 = onnx.node "Reshape"(%x, %rows) {} opset 18 node "view" : (tensor<2x5x3xf32>, tensor<2xi64>) -> tensor<10x3xf32>
  %dw = onnx.node "Contract"(%x2, %g) {transA = 1 : i64} domain "zero" opset 1 node "head" : (tensor<10x3xf32>, tensor<10x4xf32>) -> tensor<3x4xf32>
  return %s#0, %dx, %dw, %db : tensor<f32>, tensor<10x3xf32>, tensor<3x4xf32>, tensor<4xf32>
}
// CHECK: %[[SCALE:.*]] = onnx.node "Sqrt"
// CHECK: %[[X0:.*]] = zero.member %arg0 at 0 : (tensor<2x5x3xf32>) -> tensor<4x3xf32>
// CHECK: %[[P0:.*]] = onnx.node "Contract"(%[[X0]], %arg1)
// CHECK: %[[L0:.*]] = onnx.node "Add"(%[[P0]], %arg2) {{.*}} -> tensor<4x4xf32>
// CHECK: %[[LABELS0:.*]] = zero.member %arg3 at 0 : (tensor<10xi64>) -> tensor<4xi64>
// CHECK: %[[S0:.*]]:3 = onnx.node "CrossEntropySum"(%[[L0]], %[[LABELS0]])
// CHECK: %[[G0:.*]] = onnx.node "CrossEntropyGrad"(%[[SCALE]], %[[L0]], %[[LABELS0]], %[[S0]]#2)
// CHECK: %[[DB0:.*]] = onnx.node "ReduceSum"(%[[G0]]
// CHECK: %[[DX0:.*]] = onnx.node "Contract"(%[[G0]], %arg1) {transB = 1 : i64} {{.*}} -> tensor<4x3xf32>
// CHECK: %[[DW0:.*]] = onnx.node "Contract"
// CHECK: zero.member %arg0 at 12
// CHECK: %[[S1:.*]]:3 = onnx.node "CrossEntropySum"
// CHECK: onnx.node "Add"(%[[S1]]#0, %[[S0]]#0)
// CHECK: onnx.node "Add"(%{{.*}}, %[[DB0]]) {{.*}} tensor<4xf32>
// CHECK: %[[DX1:.*]] = onnx.node "Contract"({{.*}} -> tensor<4x3xf32>
// CHECK: onnx.node "Add"(%{{.*}}, %[[DW0]]) {{.*}} tensor<3x4xf32>
// CHECK: zero.member %arg0 at 24 : (tensor<2x5x3xf32>) -> tensor<2x3xf32>
// CHECK: %[[DX2:.*]] = onnx.node "Contract"({{.*}} -> tensor<2x3xf32>
// CHECK: zero.bucket(%[[DX0]], %[[DX1]], %[[DX2]]) at [0, 12, 24]

// -----

// Another op reads the logits, so they are needed in full.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.member
func.func @step(%x: tensor<10x3xf32>, %w: tensor<3x4xf32>, %labels: tensor<10xi64>) -> (tensor<f32>, tensor<10x4xf32>) {
  %l = onnx.node "Contract"(%x, %w) {} domain "zero" opset 1 node "head" : (tensor<10x3xf32>, tensor<3x4xf32>) -> tensor<10x4xf32>
  %s:3 = onnx.node "CrossEntropySum"(%l, %labels) {} domain "zero" opset 1 node "loss" : (tensor<10x4xf32>, tensor<10xi64>) -> (tensor<f32>, tensor<f32>, tensor<10xf32>)
  return %s#0, %l : tensor<f32>, tensor<10x4xf32>
}

// -----

// The gradient's scale is the loss itself.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.member
func.func @step(%x: tensor<10x3xf32>, %w: tensor<3x4xf32>, %labels: tensor<10xi64>) -> tensor<3x4xf32> {
  %l = onnx.node "Contract"(%x, %w) {} domain "zero" opset 1 node "head" : (tensor<10x3xf32>, tensor<3x4xf32>) -> tensor<10x4xf32>
  %s:3 = onnx.node "CrossEntropySum"(%l, %labels) {} domain "zero" opset 1 node "loss" : (tensor<10x4xf32>, tensor<10xi64>) -> (tensor<f32>, tensor<f32>, tensor<10xf32>)
  %g = onnx.node "CrossEntropyGrad"(%s#0, %l, %labels, %s#2) {} domain "zero" opset 1 node "loss" : (tensor<f32>, tensor<10x4xf32>, tensor<10xi64>, tensor<10xf32>) -> tensor<10x4xf32>
  %dw = onnx.node "Contract"(%x, %g) {transA = 1 : i64} domain "zero" opset 1 node "head" : (tensor<10x3xf32>, tensor<10x4xf32>) -> tensor<3x4xf32>
  return %dw : tensor<3x4xf32>
}
