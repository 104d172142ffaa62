// The gradient of attention, in programs that bring their backward pass.
// RUN: zero-opt %s --pass-pipeline='builtin.module(func.func(zero-fold-transposes,zero-recognise-softmax-grad,zero-recognise-softmax),zero-recognise-attention)' --remark-format=emitRemark --remarks-filter=recognise 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// As PyTorch writes it: batch and heads merged, the scale behind the gradient of the softmax.
// CHECK-LABEL: func.func @pytorch
// CHECK-SAME: (%[[Q:.*]]: tensor<2x2x3x4xf32>, %[[K:.*]]: tensor<2x2x3x4xf32>, %[[V:.*]]: tensor<2x2x3x4xf32>, %{{.*}}: tensor<2x1x1x3xf32>, %[[DO:.*]]: tensor<2x2x3x4xf32>)
// CHECK: %[[PAD:.*]] = onnx.node "Reshape"({{.*}} -> tensor<2x3xf32>
// CHECK: %[[O:.*]]:2 = onnx.node "Attention"(%[[Q]], %[[K]], %[[V]], %[[PAD]], %[[NONE:.*]]) {{{.*}}scale = 5.000000e-01
// CHECK: %[[G:.*]]:3 = onnx.node "AttentionGrad"(%[[DO]], %[[Q]], %[[K]], %[[V]], %[[O]]#0, %[[O]]#1, %[[PAD]], %[[NONE]]) {{{.*}}scale = 5.000000e-01
// CHECK-NOT: "Contract"
// CHECK-NOT: "MatMul"
// REMARK-DAG: attention and its gradient (padding) at node 'o3'
func.func @pytorch(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %bias: tensor<2x1x1x3xf32>, %do: tensor<2x2x3x4xf32>)
    -> (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) {
  %c0 = arith.constant dense<[4, 3, 4]> : tensor<3xi64>
  %q3 = onnx.node "Reshape"(%q, %c0) {} opset 23 node "q3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "kt"
      : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %c1 = arith.constant dense<[4, 4, 3]> : tensor<3xi64>
  %k3 = onnx.node "Reshape"(%kt, %c1) {} opset 23 node "k3"
      : (tensor<2x2x4x3xf32>, tensor<3xi64>) -> tensor<4x4x3xf32>
  %s3 = onnx.node "MatMul"(%q3, %k3) {} opset 23 node "s3"
      : (tensor<4x3x4xf32>, tensor<4x4x3xf32>) -> tensor<4x3x3xf32>
  %c2 = arith.constant dense<[2, 2, 3, 3]> : tensor<4xi64>
  %s = onnx.node "Reshape"(%s3, %c2) {} opset 23 node "s"
      : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %c3 = arith.constant dense<0.5> : tensor<f32>
  %scaled = onnx.node "Mul"(%s, %c3) {} opset 23 node "scaled"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%scaled, %bias) {} opset 23 node "m"
      : (tensor<2x2x3x3xf32>, tensor<2x1x1x3xf32>) -> tensor<2x2x3x3xf32>
  %c4 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%m, %c4) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %d = onnx.node "Sub"(%m, %max) {} opset 23 node "d"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c4) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %c5 = arith.constant dense<[4, 3, 3]> : tensor<3xi64>
  %w3 = onnx.node "Reshape"(%w, %c5) {} opset 23 node "w3"
      : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %v3 = onnx.node "Reshape"(%v, %c0) {} opset 23 node "v3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %o3 = onnx.node "MatMul"(%w3, %v3) {} opset 23 node "o3"
      : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %c6 = arith.constant dense<[2, 2, 3, 4]> : tensor<4xi64>
  %o = onnx.node "Reshape"(%o3, %c6) {} opset 23 node "o"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %do3 = onnx.node "Reshape"(%do, %c0) {} opset 23 node "do3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %dv3 = onnx.node "Contract"(%w3, %do3) {transA = 1 : i64} domain "zero" opset 1 node "dv3"
      : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %dv = onnx.node "Reshape"(%dv3, %c6) {} opset 23 node "dv"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %dw3 = onnx.node "Contract"(%do3, %v3) {transB = 1 : i64} domain "zero" opset 1 node "dw3"
      : (tensor<4x3x4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x3xf32>
  %dw = onnx.node "Reshape"(%dw3, %c2) {} opset 23 node "dw"
      : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %t = onnx.node "Mul"(%dw, %w) {} opset 23 node "t"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %ts = onnx.node "ReduceSum"(%t, %c4) {keepdims = 1 : i64} opset 23 node "ts"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %ws = onnx.node "Mul"(%w, %ts) {} opset 23 node "ws"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %dm = onnx.node "Sub"(%t, %ws) {} opset 23 node "dm"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %ds = onnx.node "Mul"(%dm, %c3) {} opset 23 node "ds"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %ds3 = onnx.node "Reshape"(%ds, %c5) {} opset 23 node "ds3"
      : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %dkt3 = onnx.node "Contract"(%q3, %ds3) {transA = 1 : i64} domain "zero" opset 1 node "dkt3"
      : (tensor<4x3x4xf32>, tensor<4x3x3xf32>) -> tensor<4x4x3xf32>
  %c7 = arith.constant dense<[2, 2, 4, 3]> : tensor<4xi64>
  %dkt = onnx.node "Reshape"(%dkt3, %c7) {} opset 23 node "dkt"
      : (tensor<4x4x3xf32>, tensor<4xi64>) -> tensor<2x2x4x3xf32>
  %dk = onnx.node "Transpose"(%dkt) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "dk"
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %dq3 = onnx.node "Contract"(%ds3, %k3) {transB = 1 : i64} domain "zero" opset 1 node "dq3"
      : (tensor<4x3x3xf32>, tensor<4x4x3xf32>) -> tensor<4x3x4xf32>
  %dq = onnx.node "Reshape"(%dq3, %c6) {} opset 23 node "dq"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  return %o, %dq, %dk, %dv : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>
}

// As JAX writes it: quotients of exponentials, selected scores, transposed products.
// CHECK-LABEL: func.func @jax
// CHECK: %[[O:.*]]:2 = onnx.node "Attention"({{.*}}causal = 1 : i64, fill = -1.000000e+09 : f32{{.*}}scale = 5.000000e-01
// CHECK: %[[DO:.*]] = onnx.node "Transpose"(%arg3) {perm = array<i64: 0, 2, 1, 3>}
// CHECK: onnx.node "AttentionGrad"(%[[DO]], {{.*}}, %[[O]]#0, %[[O]]#1, {{.*}}causal = 1 : i64
// CHECK-NOT: "MatMul"
// CHECK-NOT: "Exp"
// REMARK-DAG: attention and its gradient (causal) at node 'ot'
func.func @jax(%q: tensor<2x3x2x4xf32>, %k: tensor<2x3x2x4xf32>, %v: tensor<2x3x2x4xf32>, %do: tensor<2x3x2x4xf32>)
    -> (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) {
  %qh = onnx.node "Transpose"(%q) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "qh"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 2, 3, 1>} opset 23 node "kt"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x4x3xf32>
  %vt = onnx.node "Transpose"(%v) {perm = array<i64: 0, 2, 3, 1>} opset 23 node "vt"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%qh, %kt) {} opset 23 node "s"
      : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %c0 = arith.constant dense<2.0> : tensor<f32>
  %sc = onnx.node "Div"(%s, %c0) {} opset 23 node "sc"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %c1 = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %c2 = arith.constant dense<-1000000000.0> : tensor<f32>
  %m = onnx.node "Where"(%c1, %sc, %c2) {} opset 23 node "m"
      : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %c3 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%m, %c3) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %d = onnx.node "Sub"(%m, %max) {} opset 23 node "d"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c3) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %ot = onnx.node "Contract"(%vt, %w) {transB = 1 : i64} domain "zero" opset 1 node "ot"
      : (tensor<2x2x4x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x3xf32>
  %o = onnx.node "Transpose"(%ot) {perm = array<i64: 0, 3, 1, 2>} opset 23 node "o"
      : (tensor<2x2x4x3xf32>) -> tensor<2x3x2x4xf32>
  %ss = onnx.node "Mul"(%sum, %sum) {} opset 23 node "ss"
      : (tensor<2x2x3x1xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %c4 = arith.constant dense<1.0> : tensor<f32>
  %inv = onnx.node "Div"(%c4, %ss) {} opset 23 node "inv"
      : (tensor<f32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %dot = onnx.node "Transpose"(%do) {perm = array<i64: 0, 2, 3, 1>} opset 23 node "dot"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x4x3xf32>
  %dvt = onnx.node "MatMul"(%dot, %w) {} opset 23 node "dvt"
      : (tensor<2x2x4x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x3xf32>
  %dv = onnx.node "Transpose"(%dvt) {perm = array<i64: 0, 3, 1, 2>} opset 23 node "dv"
      : (tensor<2x2x4x3xf32>) -> tensor<2x3x2x4xf32>
  %dw = onnx.node "Contract"(%dot, %vt) {transA = 1 : i64} domain "zero" opset 1 node "dw"
      : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %a = onnx.node "Mul"(%dw, %inv) {} opset 23 node "a"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %b = onnx.node "Mul"(%a, %e) {} opset 23 node "b"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %c = onnx.node "ReduceSum"(%b, %c3) {keepdims = 1 : i64} opset 23 node "c"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %n = onnx.node "Neg"(%c) {} opset 23 node "n"
      : (tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %g = onnx.node "Div"(%dw, %sum) {} opset 23 node "g"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %h = onnx.node "Add"(%g, %n) {} opset 23 node "h"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %de = onnx.node "Mul"(%h, %e) {} opset 23 node "de"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %c5 = arith.constant dense<0.0> : tensor<f32>
  %dm = onnx.node "Where"(%c1, %de, %c5) {} opset 23 node "dm"
      : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %ds = onnx.node "Div"(%dm, %c0) {} opset 23 node "ds"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %dkh = onnx.node "Contract"(%ds, %qh) {transA = 1 : i64} domain "zero" opset 1 node "dkh"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %kh = onnx.node "Transpose"(%k) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "kh"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x3x4xf32>
  %dqh = onnx.node "MatMul"(%ds, %kh) {} opset 23 node "dqh"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %dq = onnx.node "Transpose"(%dqh) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dq"
      : (tensor<2x2x3x4xf32>) -> tensor<2x3x2x4xf32>
  %dk = onnx.node "Transpose"(%dkh) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dk"
      : (tensor<2x2x3x4xf32>) -> tensor<2x3x2x4xf32>
  return %o, %dq, %dk, %dv : tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>
}

// Keys and values that are repeated for groups of queries are read once, and their gradients are
// those of the groups. The scale is half on either side, so the gradient of the scaled queries is
// twice that of the queries.
// CHECK-LABEL: func.func @grouped
// CHECK-NOT: "Expand"
// CHECK: %[[G:.*]]:3 = onnx.node "AttentionGrad"({{.*}}scale = 2.500000e-01{{.*}} -> (tensor<2x4x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>)
// CHECK: onnx.node "Mul"(%[[G]]#0,
// CHECK-NOT: "ReduceSum"
func.func @grouped(%q: tensor<2x4x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %do: tensor<2x4x3x4xf32>)
    -> (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) {
  %c0 = arith.constant dense<0.5> : tensor<f32>
  %qs = onnx.node "Mul"(%q, %c0) {} opset 23 node "qs"
      : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4x3x4xf32>
  %c1 = arith.constant dense<[2, 2, 1, 3, 4]> : tensor<5xi64>
  %k1 = onnx.node "Reshape"(%k, %c1) {} opset 23 node "k1"
      : (tensor<2x2x3x4xf32>, tensor<5xi64>) -> tensor<2x2x1x3x4xf32>
  %c2 = arith.constant dense<[2, 2, 2, 3, 4]> : tensor<5xi64>
  %ke = onnx.node "Expand"(%k1, %c2) {} opset 23 node "ke"
      : (tensor<2x2x1x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %c3 = arith.constant dense<[2, 4, 3, 4]> : tensor<4xi64>
  %kr = onnx.node "Reshape"(%ke, %c3) {} opset 23 node "kr"
      : (tensor<2x2x2x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %v1 = onnx.node "Reshape"(%v, %c1) {} opset 23 node "v1"
      : (tensor<2x2x3x4xf32>, tensor<5xi64>) -> tensor<2x2x1x3x4xf32>
  %ve = onnx.node "Expand"(%v1, %c2) {} opset 23 node "ve"
      : (tensor<2x2x1x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %vr = onnx.node "Reshape"(%ve, %c3) {} opset 23 node "vr"
      : (tensor<2x2x2x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %kt = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "kt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x4x4x3xf32>
  %ks = onnx.node "Mul"(%kt, %c0) {} opset 23 node "ks"
      : (tensor<2x4x4x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
  %s = onnx.node "MatMul"(%qs, %ks) {} opset 23 node "s"
      : (tensor<2x4x3x4xf32>, tensor<2x4x4x3xf32>) -> tensor<2x4x3x3xf32>
  %c4 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%s, %c4) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x4x3x3xf32>, tensor<1xi64>) -> tensor<2x4x3x1xf32>
  %d = onnx.node "Sub"(%s, %max) {} opset 23 node "d"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c4) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x4x3x3xf32>, tensor<1xi64>) -> tensor<2x4x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %o = onnx.node "MatMul"(%w, %vr) {} opset 23 node "o"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %dvr = onnx.node "Contract"(%w, %do) {transA = 1 : i64} domain "zero" opset 1 node "dvr"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %dw = onnx.node "Contract"(%do, %vr) {transB = 1 : i64} domain "zero" opset 1 node "dw"
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x3xf32>
  %t = onnx.node "Mul"(%dw, %w) {} opset 23 node "t"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %ts = onnx.node "ReduceSum"(%t, %c4) {keepdims = 1 : i64} opset 23 node "ts"
      : (tensor<2x4x3x3xf32>, tensor<1xi64>) -> tensor<2x4x3x1xf32>
  %ws = onnx.node "Mul"(%w, %ts) {} opset 23 node "ws"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %ds = onnx.node "Sub"(%t, %ws) {} opset 23 node "ds"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %dkst = onnx.node "Contract"(%qs, %ds) {transA = 1 : i64} domain "zero" opset 1 node "dkst"
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x4x3xf32>
  %dkt = onnx.node "Mul"(%dkst, %c0) {} opset 23 node "dkt"
      : (tensor<2x4x4x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
  %dkr = onnx.node "Transpose"(%dkt) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "dkr"
      : (tensor<2x4x4x3xf32>) -> tensor<2x4x3x4xf32>
  %dqs = onnx.node "Contract"(%ds, %ks) {transB = 1 : i64} domain "zero" opset 1 node "dqs"
      : (tensor<2x4x3x3xf32>, tensor<2x4x4x3xf32>) -> tensor<2x4x3x4xf32>
  %dq = onnx.node "Mul"(%dqs, %c0) {} opset 23 node "dq"
      : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4x3x4xf32>
  %dk5 = onnx.node "Reshape"(%dkr, %c2) {} opset 23 node "dk5"
      : (tensor<2x4x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %c5 = arith.constant dense<[2]> : tensor<1xi64>
  %dks = onnx.node "ReduceSum"(%dk5, %c5) {keepdims = 1 : i64} opset 23 node "dks"
      : (tensor<2x2x2x3x4xf32>, tensor<1xi64>) -> tensor<2x2x1x3x4xf32>
  %c6 = arith.constant dense<[2, 2, 3, 4]> : tensor<4xi64>
  %dk = onnx.node "Reshape"(%dks, %c6) {} opset 23 node "dk"
      : (tensor<2x2x1x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %dv5 = onnx.node "Reshape"(%dvr, %c2) {} opset 23 node "dv5"
      : (tensor<2x4x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %dvs = onnx.node "ReduceSum"(%dv5, %c5) {keepdims = 1 : i64} opset 23 node "dvs"
      : (tensor<2x2x2x3x4xf32>, tensor<1xi64>) -> tensor<2x2x1x3x4xf32>
  %dv = onnx.node "Reshape"(%dvs, %c6) {} opset 23 node "dv"
      : (tensor<2x2x1x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  return %o, %dq, %dk, %dv : tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>
}

// The gradient of the repeated keys is a result: they stay repeated.
// CHECK-LABEL: func.func @repeats_are_read
// CHECK: "Expand"
// CHECK: onnx.node "AttentionGrad"({{.*}} -> (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>)
// CHECK: "ReduceSum"
func.func @repeats_are_read(%q: tensor<2x4x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %do: tensor<2x4x3x4xf32>)
    -> (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x4x3x4xf32>) {
  %c0 = arith.constant dense<0.5> : tensor<f32>
  %qs = onnx.node "Mul"(%q, %c0) {} opset 23 node "qs"
      : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4x3x4xf32>
  %c1 = arith.constant dense<[2, 2, 1, 3, 4]> : tensor<5xi64>
  %k1 = onnx.node "Reshape"(%k, %c1) {} opset 23 node "k1"
      : (tensor<2x2x3x4xf32>, tensor<5xi64>) -> tensor<2x2x1x3x4xf32>
  %c2 = arith.constant dense<[2, 2, 2, 3, 4]> : tensor<5xi64>
  %ke = onnx.node "Expand"(%k1, %c2) {} opset 23 node "ke"
      : (tensor<2x2x1x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %c3 = arith.constant dense<[2, 4, 3, 4]> : tensor<4xi64>
  %kr = onnx.node "Reshape"(%ke, %c3) {} opset 23 node "kr"
      : (tensor<2x2x2x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %v1 = onnx.node "Reshape"(%v, %c1) {} opset 23 node "v1"
      : (tensor<2x2x3x4xf32>, tensor<5xi64>) -> tensor<2x2x1x3x4xf32>
  %ve = onnx.node "Expand"(%v1, %c2) {} opset 23 node "ve"
      : (tensor<2x2x1x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %vr = onnx.node "Reshape"(%ve, %c3) {} opset 23 node "vr"
      : (tensor<2x2x2x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %kt = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "kt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x4x4x3xf32>
  %ks = onnx.node "Mul"(%kt, %c0) {} opset 23 node "ks"
      : (tensor<2x4x4x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
  %s = onnx.node "MatMul"(%qs, %ks) {} opset 23 node "s"
      : (tensor<2x4x3x4xf32>, tensor<2x4x4x3xf32>) -> tensor<2x4x3x3xf32>
  %c4 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%s, %c4) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x4x3x3xf32>, tensor<1xi64>) -> tensor<2x4x3x1xf32>
  %d = onnx.node "Sub"(%s, %max) {} opset 23 node "d"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c4) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x4x3x3xf32>, tensor<1xi64>) -> tensor<2x4x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %o = onnx.node "MatMul"(%w, %vr) {} opset 23 node "o"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %dvr = onnx.node "Contract"(%w, %do) {transA = 1 : i64} domain "zero" opset 1 node "dvr"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %dw = onnx.node "Contract"(%do, %vr) {transB = 1 : i64} domain "zero" opset 1 node "dw"
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> tensor<2x4x3x3xf32>
  %t = onnx.node "Mul"(%dw, %w) {} opset 23 node "t"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %ts = onnx.node "ReduceSum"(%t, %c4) {keepdims = 1 : i64} opset 23 node "ts"
      : (tensor<2x4x3x3xf32>, tensor<1xi64>) -> tensor<2x4x3x1xf32>
  %ws = onnx.node "Mul"(%w, %ts) {} opset 23 node "ws"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x1xf32>) -> tensor<2x4x3x3xf32>
  %ds = onnx.node "Sub"(%t, %ws) {} opset 23 node "ds"
      : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %dkst = onnx.node "Contract"(%qs, %ds) {transA = 1 : i64} domain "zero" opset 1 node "dkst"
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x4x3xf32>
  %dkt = onnx.node "Mul"(%dkst, %c0) {} opset 23 node "dkt"
      : (tensor<2x4x4x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
  %dkr = onnx.node "Transpose"(%dkt) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "dkr"
      : (tensor<2x4x4x3xf32>) -> tensor<2x4x3x4xf32>
  %dqs = onnx.node "Contract"(%ds, %ks) {transB = 1 : i64} domain "zero" opset 1 node "dqs"
      : (tensor<2x4x3x3xf32>, tensor<2x4x4x3xf32>) -> tensor<2x4x3x4xf32>
  %dq = onnx.node "Mul"(%dqs, %c0) {} opset 23 node "dq"
      : (tensor<2x4x3x4xf32>, tensor<f32>) -> tensor<2x4x3x4xf32>
  %dk5 = onnx.node "Reshape"(%dkr, %c2) {} opset 23 node "dk5"
      : (tensor<2x4x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %c5 = arith.constant dense<[2]> : tensor<1xi64>
  %dks = onnx.node "ReduceSum"(%dk5, %c5) {keepdims = 1 : i64} opset 23 node "dks"
      : (tensor<2x2x2x3x4xf32>, tensor<1xi64>) -> tensor<2x2x1x3x4xf32>
  %c6 = arith.constant dense<[2, 2, 3, 4]> : tensor<4xi64>
  %dk = onnx.node "Reshape"(%dks, %c6) {} opset 23 node "dk"
      : (tensor<2x2x1x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %dv5 = onnx.node "Reshape"(%dvr, %c2) {} opset 23 node "dv5"
      : (tensor<2x4x3x4xf32>, tensor<5xi64>) -> tensor<2x2x2x3x4xf32>
  %dvs = onnx.node "ReduceSum"(%dv5, %c5) {keepdims = 1 : i64} opset 23 node "dvs"
      : (tensor<2x2x2x3x4xf32>, tensor<1xi64>) -> tensor<2x2x1x3x4xf32>
  %dv = onnx.node "Reshape"(%dvs, %c6) {} opset 23 node "dv"
      : (tensor<2x2x1x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  return %o, %dq, %dk, %dv, %dkr : tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x4x3x4xf32>
}

// The gradient of the scores is a result, so it has to be stored.
// CHECK-LABEL: func.func @gradient_is_read
// CHECK-NOT: "Attention
// CHECK: "MaskedSoftmax"
// CHECK: "SoftmaxGrad"
// CHECK-NOT: "Attention
func.func @gradient_is_read(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %bias: tensor<2x1x1x3xf32>, %do: tensor<2x2x3x4xf32>)
    -> (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x3xf32>) {
  %c0 = arith.constant dense<[4, 3, 4]> : tensor<3xi64>
  %q3 = onnx.node "Reshape"(%q, %c0) {} opset 23 node "q3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "kt"
      : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %c1 = arith.constant dense<[4, 4, 3]> : tensor<3xi64>
  %k3 = onnx.node "Reshape"(%kt, %c1) {} opset 23 node "k3"
      : (tensor<2x2x4x3xf32>, tensor<3xi64>) -> tensor<4x4x3xf32>
  %s3 = onnx.node "MatMul"(%q3, %k3) {} opset 23 node "s3"
      : (tensor<4x3x4xf32>, tensor<4x4x3xf32>) -> tensor<4x3x3xf32>
  %c2 = arith.constant dense<[2, 2, 3, 3]> : tensor<4xi64>
  %s = onnx.node "Reshape"(%s3, %c2) {} opset 23 node "s"
      : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %c3 = arith.constant dense<0.5> : tensor<f32>
  %scaled = onnx.node "Mul"(%s, %c3) {} opset 23 node "scaled"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%scaled, %bias) {} opset 23 node "m"
      : (tensor<2x2x3x3xf32>, tensor<2x1x1x3xf32>) -> tensor<2x2x3x3xf32>
  %c4 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%m, %c4) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %d = onnx.node "Sub"(%m, %max) {} opset 23 node "d"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c4) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %c5 = arith.constant dense<[4, 3, 3]> : tensor<3xi64>
  %w3 = onnx.node "Reshape"(%w, %c5) {} opset 23 node "w3"
      : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %v3 = onnx.node "Reshape"(%v, %c0) {} opset 23 node "v3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %o3 = onnx.node "MatMul"(%w3, %v3) {} opset 23 node "o3"
      : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %c6 = arith.constant dense<[2, 2, 3, 4]> : tensor<4xi64>
  %o = onnx.node "Reshape"(%o3, %c6) {} opset 23 node "o"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %do3 = onnx.node "Reshape"(%do, %c0) {} opset 23 node "do3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %dv3 = onnx.node "Contract"(%w3, %do3) {transA = 1 : i64} domain "zero" opset 1 node "dv3"
      : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %dv = onnx.node "Reshape"(%dv3, %c6) {} opset 23 node "dv"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %dw3 = onnx.node "Contract"(%do3, %v3) {transB = 1 : i64} domain "zero" opset 1 node "dw3"
      : (tensor<4x3x4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x3xf32>
  %dw = onnx.node "Reshape"(%dw3, %c2) {} opset 23 node "dw"
      : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %t = onnx.node "Mul"(%dw, %w) {} opset 23 node "t"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %ts = onnx.node "ReduceSum"(%t, %c4) {keepdims = 1 : i64} opset 23 node "ts"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %ws = onnx.node "Mul"(%w, %ts) {} opset 23 node "ws"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %dm = onnx.node "Sub"(%t, %ws) {} opset 23 node "dm"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %ds = onnx.node "Mul"(%dm, %c3) {} opset 23 node "ds"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %ds3 = onnx.node "Reshape"(%ds, %c5) {} opset 23 node "ds3"
      : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %dkt3 = onnx.node "Contract"(%q3, %ds3) {transA = 1 : i64} domain "zero" opset 1 node "dkt3"
      : (tensor<4x3x4xf32>, tensor<4x3x3xf32>) -> tensor<4x4x3xf32>
  %c7 = arith.constant dense<[2, 2, 4, 3]> : tensor<4xi64>
  %dkt = onnx.node "Reshape"(%dkt3, %c7) {} opset 23 node "dkt"
      : (tensor<4x4x3xf32>, tensor<4xi64>) -> tensor<2x2x4x3xf32>
  %dk = onnx.node "Transpose"(%dkt) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "dk"
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %dq3 = onnx.node "Contract"(%ds3, %k3) {transB = 1 : i64} domain "zero" opset 1 node "dq3"
      : (tensor<4x3x3xf32>, tensor<4x4x3xf32>) -> tensor<4x3x4xf32>
  %dq = onnx.node "Reshape"(%dq3, %c6) {} opset 23 node "dq"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  return %o, %dq, %dk, %dv, %dm : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x3xf32>
}

// The gradient of the weights is by other values than the forward pass has.
// CHECK-LABEL: func.func @other_values
// CHECK-NOT: "Attention
// CHECK: "MaskedSoftmax"
// CHECK: "SoftmaxGrad"
// CHECK-NOT: "Attention
func.func @other_values(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %bias: tensor<2x1x1x3xf32>, %do: tensor<2x2x3x4xf32>, %u: tensor<2x2x3x4xf32>)
    -> (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) {
  %c0 = arith.constant dense<[4, 3, 4]> : tensor<3xi64>
  %q3 = onnx.node "Reshape"(%q, %c0) {} opset 23 node "q3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "kt"
      : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %c1 = arith.constant dense<[4, 4, 3]> : tensor<3xi64>
  %k3 = onnx.node "Reshape"(%kt, %c1) {} opset 23 node "k3"
      : (tensor<2x2x4x3xf32>, tensor<3xi64>) -> tensor<4x4x3xf32>
  %s3 = onnx.node "MatMul"(%q3, %k3) {} opset 23 node "s3"
      : (tensor<4x3x4xf32>, tensor<4x4x3xf32>) -> tensor<4x3x3xf32>
  %c2 = arith.constant dense<[2, 2, 3, 3]> : tensor<4xi64>
  %s = onnx.node "Reshape"(%s3, %c2) {} opset 23 node "s"
      : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %c3 = arith.constant dense<0.5> : tensor<f32>
  %scaled = onnx.node "Mul"(%s, %c3) {} opset 23 node "scaled"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%scaled, %bias) {} opset 23 node "m"
      : (tensor<2x2x3x3xf32>, tensor<2x1x1x3xf32>) -> tensor<2x2x3x3xf32>
  %c4 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%m, %c4) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %d = onnx.node "Sub"(%m, %max) {} opset 23 node "d"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c4) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %c5 = arith.constant dense<[4, 3, 3]> : tensor<3xi64>
  %w3 = onnx.node "Reshape"(%w, %c5) {} opset 23 node "w3"
      : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %v3 = onnx.node "Reshape"(%v, %c0) {} opset 23 node "v3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %o3 = onnx.node "MatMul"(%w3, %v3) {} opset 23 node "o3"
      : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %c6 = arith.constant dense<[2, 2, 3, 4]> : tensor<4xi64>
  %o = onnx.node "Reshape"(%o3, %c6) {} opset 23 node "o"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %do3 = onnx.node "Reshape"(%do, %c0) {} opset 23 node "do3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %dv3 = onnx.node "Contract"(%w3, %do3) {transA = 1 : i64} domain "zero" opset 1 node "dv3"
      : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %dv = onnx.node "Reshape"(%dv3, %c6) {} opset 23 node "dv"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %u3 = onnx.node "Reshape"(%u, %c0) {} opset 23 node "u3"
      : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %dw3 = onnx.node "Contract"(%do3, %u3) {transB = 1 : i64} domain "zero" opset 1 node "dw3"
      : (tensor<4x3x4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x3xf32>
  %dw = onnx.node "Reshape"(%dw3, %c2) {} opset 23 node "dw"
      : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %t = onnx.node "Mul"(%dw, %w) {} opset 23 node "t"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %ts = onnx.node "ReduceSum"(%t, %c4) {keepdims = 1 : i64} opset 23 node "ts"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %ws = onnx.node "Mul"(%w, %ts) {} opset 23 node "ws"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %dm = onnx.node "Sub"(%t, %ws) {} opset 23 node "dm"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %ds = onnx.node "Mul"(%dm, %c3) {} opset 23 node "ds"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %ds3 = onnx.node "Reshape"(%ds, %c5) {} opset 23 node "ds3"
      : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %dkt3 = onnx.node "Contract"(%q3, %ds3) {transA = 1 : i64} domain "zero" opset 1 node "dkt3"
      : (tensor<4x3x4xf32>, tensor<4x3x3xf32>) -> tensor<4x4x3xf32>
  %c7 = arith.constant dense<[2, 2, 4, 3]> : tensor<4xi64>
  %dkt = onnx.node "Reshape"(%dkt3, %c7) {} opset 23 node "dkt"
      : (tensor<4x4x3xf32>, tensor<4xi64>) -> tensor<2x2x4x3xf32>
  %dk = onnx.node "Transpose"(%dkt) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "dk"
      : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %dq3 = onnx.node "Contract"(%ds3, %k3) {transB = 1 : i64} domain "zero" opset 1 node "dq3"
      : (tensor<4x3x3xf32>, tensor<4x4x3xf32>) -> tensor<4x3x4xf32>
  %dq = onnx.node "Reshape"(%dq3, %c6) {} opset 23 node "dq"
      : (tensor<4x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  return %o, %dq, %dk, %dv : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>
}

// Backward hides other scores than forward.
// CHECK-LABEL: func.func @other_mask
// CHECK-NOT: "Attention
// CHECK: "MaskedSoftmax"
// CHECK: "SoftmaxGrad"
// CHECK-NOT: "Attention
func.func @other_mask(%q: tensor<2x3x2x4xf32>, %k: tensor<2x3x2x4xf32>, %v: tensor<2x3x2x4xf32>, %do: tensor<2x3x2x4xf32>)
    -> (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) {
  %qh = onnx.node "Transpose"(%q) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "qh"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 2, 3, 1>} opset 23 node "kt"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x4x3xf32>
  %vt = onnx.node "Transpose"(%v) {perm = array<i64: 0, 2, 3, 1>} opset 23 node "vt"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%qh, %kt) {} opset 23 node "s"
      : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %c0 = arith.constant dense<2.0> : tensor<f32>
  %sc = onnx.node "Div"(%s, %c0) {} opset 23 node "sc"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %c1 = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %c2 = arith.constant dense<-1000000000.0> : tensor<f32>
  %m = onnx.node "Where"(%c1, %sc, %c2) {} opset 23 node "m"
      : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %c3 = arith.constant dense<[3]> : tensor<1xi64>
  %max = onnx.node "ReduceMax"(%m, %c3) {keepdims = 1 : i64} opset 23 node "max"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %d = onnx.node "Sub"(%m, %max) {} opset 23 node "d"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %e = onnx.node "Exp"(%d) {} opset 23 node "e"
      : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %sum = onnx.node "ReduceSum"(%e, %c3) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %w = onnx.node "Div"(%e, %sum) {} opset 23 node "w"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %ot = onnx.node "Contract"(%vt, %w) {transB = 1 : i64} domain "zero" opset 1 node "ot"
      : (tensor<2x2x4x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x3xf32>
  %o = onnx.node "Transpose"(%ot) {perm = array<i64: 0, 3, 1, 2>} opset 23 node "o"
      : (tensor<2x2x4x3xf32>) -> tensor<2x3x2x4xf32>
  %ss = onnx.node "Mul"(%sum, %sum) {} opset 23 node "ss"
      : (tensor<2x2x3x1xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %c4 = arith.constant dense<1.0> : tensor<f32>
  %inv = onnx.node "Div"(%c4, %ss) {} opset 23 node "inv"
      : (tensor<f32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %dot = onnx.node "Transpose"(%do) {perm = array<i64: 0, 2, 3, 1>} opset 23 node "dot"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x4x3xf32>
  %dvt = onnx.node "MatMul"(%dot, %w) {} opset 23 node "dvt"
      : (tensor<2x2x4x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x4x3xf32>
  %dv = onnx.node "Transpose"(%dvt) {perm = array<i64: 0, 3, 1, 2>} opset 23 node "dv"
      : (tensor<2x2x4x3xf32>) -> tensor<2x3x2x4xf32>
  %dw = onnx.node "Contract"(%dot, %vt) {transA = 1 : i64} domain "zero" opset 1 node "dw"
      : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %a = onnx.node "Mul"(%dw, %inv) {} opset 23 node "a"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %b = onnx.node "Mul"(%a, %e) {} opset 23 node "b"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %c = onnx.node "ReduceSum"(%b, %c3) {keepdims = 1 : i64} opset 23 node "c"
      : (tensor<2x2x3x3xf32>, tensor<1xi64>) -> tensor<2x2x3x1xf32>
  %n = onnx.node "Neg"(%c) {} opset 23 node "n"
      : (tensor<2x2x3x1xf32>) -> tensor<2x2x3x1xf32>
  %g = onnx.node "Div"(%dw, %sum) {} opset 23 node "g"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %h = onnx.node "Add"(%g, %n) {} opset 23 node "h"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x1xf32>) -> tensor<2x2x3x3xf32>
  %de = onnx.node "Mul"(%h, %e) {} opset 23 node "de"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %c5 = arith.constant dense<[[true, true, true], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %c6 = arith.constant dense<0.0> : tensor<f32>
  %dm = onnx.node "Where"(%c5, %de, %c6) {} opset 23 node "dm"
      : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %ds = onnx.node "Div"(%dm, %c0) {} opset 23 node "ds"
      : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %dkh = onnx.node "Contract"(%ds, %qh) {transA = 1 : i64} domain "zero" opset 1 node "dkh"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %kh = onnx.node "Transpose"(%k) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "kh"
      : (tensor<2x3x2x4xf32>) -> tensor<2x2x3x4xf32>
  %dqh = onnx.node "MatMul"(%ds, %kh) {} opset 23 node "dqh"
      : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %dq = onnx.node "Transpose"(%dqh) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dq"
      : (tensor<2x2x3x4xf32>) -> tensor<2x3x2x4xf32>
  %dk = onnx.node "Transpose"(%dkh) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dk"
      : (tensor<2x2x3x4xf32>) -> tensor<2x3x2x4xf32>
  return %o, %dq, %dk, %dv : tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>
}
