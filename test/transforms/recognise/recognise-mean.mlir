// RUN: zero-opt %s --zero-recognise-mean | FileCheck %s

// CHECK-LABEL: func.func @mean
// CHECK: %[[M:.*]] = onnx.node "ReduceMean"(%arg0, %{{.*}}) {keepdims = 1 : i64} opset 23 {{.*}} -> tensor<3x1xf32>
// CHECK-NOT: onnx.node
// CHECK: return %[[M]]
func.func @mean(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %shape = arith.constant dense<[3, 1]> : tensor<2xi64>
  %count = arith.constant dense<4.0> : tensor<f32>
  %s = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23 node "a" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
  %r = onnx.node "Reshape"(%s, %shape) {} opset 23 node "b" : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  %m = onnx.node "Div"(%r, %count) {} opset 23 node "c" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  return %m : tensor<3x1xf32>
}

// Another divisor, or another user of the sum.
// CHECK-LABEL: func.func @no_mean
// CHECK: onnx.node "ReduceSum"
// CHECK: onnx.node "Div"
// CHECK: onnx.node "ReduceSum"
// CHECK: onnx.node "Div"
func.func @no_mean(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %three = arith.constant dense<3.0> : tensor<f32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %s = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23 node "a" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
  %m = onnx.node "Div"(%s, %three) {} opset 23 node "b" : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %t = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23 node "c" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
  %n = onnx.node "Div"(%t, %four) {} opset 23 node "d" : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %m, %n, %t : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// A reduction that is also read without its dimensions stays.
// CHECK-LABEL: func.func @kept
// CHECK: onnx.node "ReduceMax"(%arg0, %{{.*}}) {keepdims = 1 : i64}
// CHECK: onnx.node "ReduceMax"(%arg0, %{{.*}}) {keepdims = 0 : i64}
// CHECK: onnx.node "Reshape"
func.func @kept(%x: tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3xf32>) {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %shape = arith.constant dense<[3, 1]> : tensor<2xi64>
  %s = onnx.node "ReduceMax"(%x, %axes) {keepdims = 0 : i64} opset 23 node "a" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
  %r = onnx.node "Reshape"(%s, %shape) {} opset 23 node "b" : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  %t = onnx.node "ReduceMax"(%x, %axes) {keepdims = 0 : i64} opset 23 node "c" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3xf32>
  %q = onnx.node "Reshape"(%t, %shape) {} opset 23 node "d" : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  return %r, %q, %t : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3xf32>
}
