// RUN: zero-opt %s --zero-test-gradient | FileCheck %s

// Saved results are used if they give the better formula. Gradients of broadcast operands are
// summed.
// CHECK-LABEL: func.func @tanh
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]] = onnx.node "Tanh"(%[[X]])
// CHECK: %[[SQUARE:.*]] = onnx.node "Mul"(%[[Y]], %[[Y]])
// CHECK: %[[SLOPE:.*]] = onnx.node "Sub"(%{{.*}}, %[[SQUARE]])
// CHECK: %[[DX:.*]] = onnx.node "Mul"(%[[DY]], %[[SLOPE]])
// CHECK: return %[[Y]], %[[DX]]
func.func @tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = onnx.node "Tanh"(%x) {} opset 13 : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[DY:[a-z0-9]+]]: tensor<2x3x4xf32>)
// CHECK: %[[AXES:.*]] = arith.constant dense<[0, 1]> : tensor<2xi64>
// CHECK: %[[DB:.*]] = onnx.node "ReduceSum"(%[[DY]], %[[AXES]]) {keepdims = 0 : i64}
// CHECK: return %{{.*}}, %[[DY]], %[[DB]]
func.func @bias(%x: tensor<2x3x4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %y = onnx.node "Add"(%x, %b) {} opset 14 : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @composites
// CHECK: onnx.node "CrossEntropyGrad"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}#2)
// CHECK: onnx.node "SoftmaxGrad"
// CHECK: onnx.node "LayerNormGrad"
// CHECK: onnx.node "GeluGrad"(%{{.*}}, %{{.*}}) {approximate = "tanh"}
func.func @composites(%x: tensor<6x5xf32>, %w: tensor<5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
  %g = onnx.node "Gelu"(%x) {approximate = "tanh"} opset 20 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %n = onnx.node "LayerNormalization"(%g, %w) {} opset 17 : (tensor<6x5xf32>, tensor<5xf32>) -> tensor<6x5xf32>
  %s = onnx.node "Softmax"(%n) {} opset 13 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %y:3 = onnx.node "CrossEntropySum"(%s, %l) {} domain "zero" opset 1 : (tensor<6x5xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>, tensor<6xf32>)
  return %y#0 : tensor<f32>
}
