// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-fold-empty | FileCheck %s

// Nodes without elements in their results become constants. A product over no elements is zero, a
// concatenation loses the operand, and beta C is left of a Gemm.
zero.parameter @none : tensor<4x0xf32> {frozen, splat = 0.0 : f64}

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>
// CHECK-NOT: zero.read
// CHECK-NOT: "MatMul"
// CHECK-NOT: "Relu"
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK: %[[SUM:.*]] = onnx.node "Add"(%[[X]], %[[ZEROS]])
// CHECK: %[[EXPANDED:.*]] = onnx.node "Expand"(%[[C:.*]], %{{.*}})
// CHECK: %[[BETA:.*]] = arith.constant dense<5.000000e-01>
// CHECK: %[[GEMM:.*]] = onnx.node "Mul"(%[[EXPANDED]], %[[BETA]])
// CHECK: onnx.node "Concat"(%[[SUM]], %[[GEMM]]) {axis = 1 : i64}
// CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: arith.constant dense<0x7FC00000> : tensor<f32>
// CHECK-DAG: arith.constant dense<0xFF800000> : tensor<f32>
func.func @step(%x: tensor<2x4xf32> {zero.binding = "x"}, %b: tensor<0x4xf32> {zero.binding = "b"}, %c: tensor<4xf32> {zero.binding = "c"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @none : tensor<4x0xf32>
  %n = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<2x4xf32>, tensor<4x0xf32>) -> tensor<2x0xf32>
  %r = onnx.node "Relu"(%n) {} opset 18 : (tensor<2x0xf32>) -> tensor<2x0xf32>
  %z = onnx.node "MatMul"(%r, %b) {} opset 18 : (tensor<2x0xf32>, tensor<0x4xf32>) -> tensor<2x4xf32>
  %s = onnx.node "Add"(%x, %z) {} opset 18 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = onnx.node "Gemm"(%r, %b, %c) {alpha = 2.0 : f32, beta = 5.0e-1 : f32} opset 18 : (tensor<2x0xf32>, tensor<0x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %both = onnx.node "Concat"(%s, %r, %g) {axis = 1 : i64} opset 18 : (tensor<2x4xf32>, tensor<2x0xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %one = onnx.node "Concat"(%both, %r) {axis = 1 : i64} opset 18 : (tensor<2x8xf32>, tensor<2x0xf32>) -> tensor<2x8xf32>
  %p = onnx.node "ReduceProd"(%r) {keepdims = 0 : i64} opset 18 : (tensor<2x0xf32>) -> tensor<f32>
  %m = onnx.node "ReduceMean"(%r) {keepdims = 0 : i64} opset 18 : (tensor<2x0xf32>) -> tensor<f32>
  %max = onnx.node "ReduceMax"(%r) {keepdims = 0 : i64} opset 18 : (tensor<2x0xf32>) -> tensor<f32>
  %q = onnx.node "Sum"(%p, %m, %max) {} opset 18 : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = onnx.node "ReduceSum"(%one) {keepdims = 0 : i64} opset 18 : (tensor<2x8xf32>) -> tensor<f32>
  %loss = onnx.node "Add"(%l, %q) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A shape or a list of axes without elements is a setting of the node.
// CHECK-LABEL: func.func @step
// CHECK: onnx.node "Reshape"
// CHECK: onnx.node "ReduceSum"
func.func @step(%x: tensor<1xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %none = arith.constant dense<> : tensor<0xi64>
  %r = onnx.node "Reshape"(%x, %none) {} opset 18 : (tensor<1xf32>, tensor<0xi64>) -> tensor<f32>
  %loss = onnx.node "ReduceSum"(%r, %none) {keepdims = 0 : i64} opset 18 : (tensor<f32>, tensor<0xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @step(%x: tensor<2x0x4xf32> {zero.binding = "x"}, %w: tensor<1x0x4xf32> {zero.binding = "w"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // expected-error @+1 {{Conv node '' reads a tensor without elements: expected a product, a sum, a concatenation, a scatter or a Pad with a constant; leave the tensor out of the model}}
  %y = onnx.node "Conv"(%x, %w) {} opset 18 : (tensor<2x0x4xf32>, tensor<1x0x4xf32>) -> tensor<2x1x1xf32>
  %loss = onnx.node "ReduceSum"(%y) {keepdims = 0 : i64} opset 18 : (tensor<2x1x1xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Padding around nothing is the value of the padding.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[V:.*]]: tensor<1xf32>
// CHECK-NOT: "Pad"
// CHECK: %[[SCALAR:.*]] = onnx.node "Reshape"(%[[V]]
// CHECK: onnx.node "Expand"(%[[SCALAR]], {{.*}} -> tensor<2x4xf32>
// CHECK-NOT: "Pad"
func.func @step(%v: tensor<1xf32> {zero.binding = "v"}, %n: tensor<0x4xf32> {zero.binding = "n"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %pads = arith.constant dense<[2, 0, 0, 0]> : tensor<4xi64>
  %p = onnx.node "Pad"(%n, %pads, %v) {} opset 18 : (tensor<0x4xf32>, tensor<4xi64>, tensor<1xf32>) -> tensor<2x4xf32>
  %loss = onnx.node "ReduceSum"(%p) {keepdims = 0 : i64} opset 18 : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
