// A normalization of rows that is written as primitives is one kernel: nodes that reduce rows, and
// nodes that are computed from their results, join the kernel of their readers. What others read,
// here the mean, is stored by the way.
// RUN: zero-opt %s --split-input-file --zero-form-kernels | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-NEXT: %[[R:.*]]:2 = zero.launch @[[K:k0_reducesum]](%arg0)
// CHECK-NEXT: %[[E:.*]] = zero.launch @k1_exp(%[[R]]#0)
// CHECK-NEXT: return %[[R]]#1, %[[E]]
// CHECK: func.func private @[[K]](%{{.*}}: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>)
func.func @step(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %shape = arith.constant dense<[4, 1]> : tensor<2xi64>
  %m = onnx.node "ReduceSum"(%x, %axes) {keepdims = 1 : i64} opset 23
      : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %c = onnx.node "Sub"(%x, %m) {} opset 23 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = onnx.node "Mul"(%c, %c) {} opset 23 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = onnx.node "ReduceSum"(%q, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
  %w = onnx.node "Reshape"(%v, %shape) {allowzero = 1 : i64} opset 23
      : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x1xf32>
  %y = onnx.node "Div"(%c, %w) {} opset 23 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = onnx.node "Exp"(%m) {} opset 23 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y, %e : tensor<4x8xf32>, tensor<4x1xf32>
}

// -----

// A node that another kernel reads before the last node of its readers keeps a kernel of its own.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @k0_reducesum
// CHECK: zero.launch @k1_matmul
// CHECK: zero.launch @k2_add
func.func @step(%x: tensor<4x8xf32>, %m: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %axes = arith.constant dense<1> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%x, %axes) {keepdims = 1 : i64} opset 23
      : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %p = onnx.node "MatMul"(%s, %m) {} opset 23 : (tensor<4x1xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %a = onnx.node "Tanh"(%p) {} opset 23 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = onnx.node "Add"(%a, %s) {} opset 23 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
