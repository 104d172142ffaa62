// RUN: zero-opt %s --split-input-file --zero-fold-guards | FileCheck %s

// The norm of a guarded operand, of which the result has the same guard: the conditions are the same
// although one has another shape. Then both norms are one.

module attributes {zero.whole_step} {
  // CHECK-LABEL: func.func @step
  // CHECK: %[[N:.*]] = onnx.node "ReduceL2"(%arg0,
  // CHECK-NOT: onnx.node "ReduceL2"
  // CHECK: %[[C:.*]] = onnx.node "LessOrEqual"
  // CHECK: onnx.node "Where"(%{{.*}}, %{{.*}}, %[[N]])
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %axes = arith.constant dense<0> : tensor<1xi64>
    %shape = arith.constant dense<1> : tensor<1xi64>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %n = onnx.node "ReduceL2"(%x, %axes) {keepdims = 0 : i64} opset 23 : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
    %v = onnx.node "Reshape"(%n, %shape) {} opset 23 : (tensor<f32>, tensor<1xi64>) -> tensor<1xf32>
    %c1 = onnx.node "LessOrEqual"(%v, %zero) {} opset 23 : (tensor<1xf32>, tensor<f32>) -> tensor<1xi1>
    %g = onnx.node "Where"(%c1, %one, %x) {} opset 23 : (tensor<1xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %m = onnx.node "ReduceL2"(%g, %axes) {keepdims = 0 : i64} opset 23 : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
    %c = onnx.node "LessOrEqual"(%n, %zero) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %r = onnx.node "Where"(%c, %zero, %m) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

// Another bound is another condition. So is a guard of which other nodes read the value.

module attributes {zero.whole_step} {
  // CHECK-LABEL: func.func @step
  // CHECK-COUNT-2: onnx.node "Where"({{.*}}tensor<4xf32>
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}, tensor<4xf32> {zero.binding = "other"}) {
    %axes = arith.constant dense<0> : tensor<1xi64>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %n = onnx.node "ReduceL2"(%x, %axes) {keepdims = 0 : i64} opset 23 : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
    %c = onnx.node "LessOrEqual"(%n, %zero) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %d = onnx.node "LessOrEqual"(%n, %one) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %g = onnx.node "Where"(%c, %one, %x) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %h = onnx.node "Where"(%d, %one, %x) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %m = onnx.node "ReduceL2"(%g, %axes) {keepdims = 0 : i64} opset 23 : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
    %k = onnx.node "ReduceL2"(%h, %axes) {keepdims = 0 : i64} opset 23 : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
    %r = onnx.node "Where"(%c, %zero, %m) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = onnx.node "Where"(%c, %zero, %k) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %t = onnx.node "Add"(%r, %s) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %t, %g : tensor<f32>, tensor<4xf32>
  }
}
