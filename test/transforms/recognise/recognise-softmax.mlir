// RUN: zero-opt %s --zero-recognise-softmax | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK: %[[P:.*]] = onnx.node "Softmax"(%arg0) {axis = 1 : i64} opset 13
// CHECK-NOT: onnx.node
// CHECK: return %[[P]]
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %axes = arith.constant dense<-1> : tensor<1xi64>
  %m = onnx.node "ReduceMax"(%x, %axes) {keepdims = 1 : i64} opset 23 node "m" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %d = onnx.node "Sub"(%x, %m) {} opset 23 node "d" : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e" : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = onnx.node "ReduceSum"(%e, %axes) {keepdims = 1 : i64} opset 23 node "s" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %p = onnx.node "Div"(%e, %s) {} opset 23 node "p" : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  return %p : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @log_softmax
// CHECK: %[[L:.*]] = onnx.node "LogSoftmax"(%arg0) {axis = 0 : i64} opset 13
// CHECK-NOT: onnx.node
// CHECK: return %[[L]]
func.func @log_softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %m = onnx.node "ReduceMax"(%x, %axes) {keepdims = 1 : i64} opset 23 node "m" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %d = onnx.node "Sub"(%x, %m) {} opset 23 node "d" : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e" : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = onnx.node "ReduceSum"(%e, %axes) {keepdims = 1 : i64} opset 23 node "s" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %l = onnx.node "Log"(%s) {} opset 23 node "l" : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %p = onnx.node "Sub"(%d, %l) {} opset 23 node "p" : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %p : tensor<3x4xf32>
}

// A backward pass that reads the exponentials needs them beside the result: nothing is gained.
// CHECK-LABEL: func.func @kept
// CHECK: %[[E:.*]] = onnx.node "Exp"
// CHECK-NOT: LogSoftmax
// CHECK: return %{{.*}}, %[[E]]
func.func @kept(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %m = onnx.node "ReduceMax"(%x, %axes) {keepdims = 1 : i64} opset 23 node "m" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %d = onnx.node "Sub"(%x, %m) {} opset 23 node "d" : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e" : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = onnx.node "ReduceSum"(%e, %axes) {keepdims = 1 : i64} opset 23 node "s" : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %l = onnx.node "Log"(%s) {} opset 23 node "l" : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %p = onnx.node "Sub"(%d, %l) {} opset 23 node "p" : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %p, %e : tensor<3x4xf32>, tensor<3x4xf32>
}

// The sum is over another axis than the maximum.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT: Softmax
// CHECK: return
func.func @other_axis(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %rows = arith.constant dense<1> : tensor<1xi64>
  %columns = arith.constant dense<0> : tensor<1xi64>
  %m = onnx.node "ReduceMax"(%x, %rows) {keepdims = 1 : i64} opset 23 node "m" : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %d = onnx.node "Sub"(%x, %m) {} opset 23 node "d" : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e" : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = onnx.node "ReduceSum"(%e, %columns) {keepdims = 1 : i64} opset 23 node "s" : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
  %p = onnx.node "Div"(%e, %s) {} opset 23 node "p" : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
