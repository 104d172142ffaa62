// RUN: zero-opt %s --zero-fold-transposes --zero-recognise-attention --remark-format=emitRemark --remarks-filter=recognise 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// A constant mask of numbers, half of the scale on either side, and the guard.
// CHECK-LABEL: func.func @baked
// CHECK-SAME: (%[[Q:.*]]: tensor<2x2x3x4xf32>, %[[K:.*]]: tensor<2x2x3x4xf32>, %[[V:.*]]: tensor<2x2x3x4xf32>)
// CHECK: %[[NONE:.*]] = onnx.none
// CHECK: onnx.node "Attention"(%[[Q]], %[[K]], %[[V]], %[[NONE]], %{{.*}}) {causal = 1 : i64, fill = -3.40282347E+38 : f32, guard = 1 : i64, offset = 0 : i64, scale = 2.500000e-01 : f32} domain "zero"
// CHECK-NOT: "MatMul"
// REMARK-DAG: attention (causal) at node 'y'
func.func @baked(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %mask = arith.constant dense<[[[[0.0, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, -3.40282347E+38], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %qs = onnx.node "Mul"(%q, %half) {} opset 18 node "qs" : (tensor<2x2x3x4xf32>, tensor<f32>) -> tensor<2x2x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %ks = onnx.node "Mul"(%kt, %half) {} opset 18 node "ks" : (tensor<2x2x4x3xf32>, tensor<f32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%qs, %ks) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%s, %mask) {} opset 18 node "m" : (tensor<2x2x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x3x3xi1>, tensor<f32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// Positions that are compared in the graph, and padding of samples; selected, then added.
// CHECK-LABEL: func.func @compared
// CHECK: %[[PAD:.*]] = onnx.node "Reshape"(%arg3, %{{.*}}) {{.*}} -> tensor<2x3xi1>
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %[[PAD]], %{{.*}}) {causal = 1 : i64, fill = -3.40282347E+38 : f32, guard = 0 : i64, offset = 0 : i64, scale = 5.000000e-01 : f32}
// REMARK-DAG: attention (causal, padding) at node 'y'
func.func @compared(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %pad: tensor<2x1x1x3xi1>) -> tensor<2x2x3x4xf32> {
  %keys = arith.constant dense<[0, 1, 2]> : tensor<3xi64>
  %queries = arith.constant dense<[[0], [1], [2]]> : tensor<3x1xi64>
  %shown = arith.constant dense<0.0> : tensor<f32>
  %hidden = arith.constant dense<-3.40282347E+38> : tensor<f32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %shape = arith.constant dense<[2, 1, 3, 3]> : tensor<4xi64>
  %c = onnx.node "LessOrEqual"(%keys, %queries) {} opset 18 node "c" : (tensor<3xi64>, tensor<3x1xi64>) -> tensor<3x3xi1>
  %both = onnx.node "And"(%c, %pad) {} opset 18 node "both" : (tensor<3x3xi1>, tensor<2x1x1x3xi1>) -> tensor<2x1x3x3xi1>
  %all = onnx.node "Expand"(%both, %shape) {} opset 18 node "all" : (tensor<2x1x3x3xi1>, tensor<4xi64>) -> tensor<2x1x3x3xi1>
  %bias = onnx.node "Where"(%all, %shown, %hidden) {} opset 18 node "bias" : (tensor<2x1x3x3xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x3x3xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %d = onnx.node "Div"(%s, %two) {} opset 18 node "d" : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%bias, %d) {} opset 18 node "m" : (tensor<2x1x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// Minus infinity is selected. Keys and values are repeated for two groups of heads.
// CHECK-LABEL: func.func @grouped
// CHECK-DAG: %[[K:.*]] = onnx.node "Reshape"(%arg1, {{.*}} -> tensor<2x1x3x4xf32>
// CHECK-DAG: %[[V:.*]] = onnx.node "Reshape"(%arg2, {{.*}} -> tensor<2x1x3x4xf32>
// CHECK: onnx.node "Attention"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 0 : i64, offset = 0 : i64, scale = 1.000000e+00 : f32} {{.*}} : (tensor<2x2x3x4xf32>, tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>, none, none)
// REMARK-DAG: attention (causal) at node 'y'
func.func @grouped(%q: tensor<2x2x3x4xf32>, %kg: tensor<2x1x1x3x4xf32>, %vg: tensor<2x1x1x3x4xf32>) -> tensor<2x2x3x4xf32> {
  %stretched = arith.constant dense<[2, 1, 2, 3, 4]> : tensor<5xi64>
  %merged = arith.constant dense<[2, 2, 3, 4]> : tensor<4xi64>
  %c = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %ke = onnx.node "Expand"(%kg, %stretched) {} opset 18 node "ke" : (tensor<2x1x1x3x4xf32>, tensor<5xi64>) -> tensor<2x1x2x3x4xf32>
  %k = onnx.node "Reshape"(%ke, %merged) {allowzero = 1 : i64} opset 18 node "k" : (tensor<2x1x2x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %ve = onnx.node "Expand"(%vg, %stretched) {} opset 18 node "ve" : (tensor<2x1x1x3x4xf32>, tensor<5xi64>) -> tensor<2x1x2x3x4xf32>
  %v = onnx.node "Reshape"(%ve, %merged) {allowzero = 1 : i64} opset 18 node "v" : (tensor<2x1x2x3x4xf32>, tensor<4xi64>) -> tensor<2x2x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Where"(%c, %s, %inf) {} opset 18 node "m" : (tensor<3x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// A learned bias of heads and positions remains an operand. A bias of the keys next to it, written
// as (1 - mask) times a number, is a padding of keys.
// CHECK-LABEL: func.func @biased
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %arg3) {causal = 0 : i64, {{.*}} : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x3xf32>, tensor<1x2x3x3xf32>)
// REMARK-DAG: attention (padding, a mask) at node 'y'
func.func @biased(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %table: tensor<1x2x3x3xf32>, %mask: tensor<2x1x1x3xf32>) -> tensor<2x2x3x4xf32> {
  %one = arith.constant dense<1.0> : tensor<f32>
  %many = arith.constant dense<-10000.0> : tensor<f32>
  %lack = onnx.node "Sub"(%one, %mask) {} opset 18 node "lack" : (tensor<f32>, tensor<2x1x1x3xf32>) -> tensor<2x1x1x3xf32>
  %pad = onnx.node "Mul"(%lack, %many) {} opset 18 node "pad" : (tensor<2x1x1x3xf32>, tensor<f32>) -> tensor<2x1x1x3xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%s, %table) {} opset 18 node "m" : (tensor<2x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %n = onnx.node "Add"(%m, %pad) {} opset 18 node "n" : (tensor<2x2x3x3xf32>, tensor<2x1x1x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%n) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// The operator: its mask is also analyzed.
// CHECK-LABEL: func.func @operator
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 0 : i64, scale = 5.000000e-01 : f32} domain "zero" {{.*}}none, none)
// REMARK-DAG: attention (causal) at node 'y'
func.func @operator(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  %mask = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %y = onnx.node "Attention"(%q, %k, %v, %mask) {} opset 23 node "y" : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<3x3xi1>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// One more key in one row of one sample: the mask remains an operand.
// CHECK-LABEL: func.func @nearly_causal
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {causal = 0 : i64, {{.*}} none, tensor<2x1x3x3xi1>)
// REMARK-DAG: attention (a mask) at node 'y'
func.func @nearly_causal(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  %shown = arith.constant dense<0.0> : tensor<f32>
  %hidden = arith.constant dense<-3.40282347E+38> : tensor<f32>
  %c = arith.constant dense<[[[[true, false, false], [true, true, false], [true, true, true]]], [[[true, false, false], [true, true, true], [true, true, true]]]]> : tensor<2x1x3x3xi1>
  %bias = onnx.node "Where"(%c, %shown, %hidden) {} opset 18 node "bias" : (tensor<2x1x3x3xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x3x3xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%s, %bias) {} opset 18 node "m" : (tensor<2x2x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// If a row may have no key, selecting a finite number differs from adding it.
// CHECK-LABEL: func.func @selected_number
// CHECK: %[[S:.*]] = onnx.node "Where"
// CHECK: onnx.node "Softmax"(%[[S]])
// CHECK-NOT: domain "zero" {{.*}}"MaskedSoftmax"
func.func @selected_number(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %pad: tensor<2x1x1x3xi1>) -> tensor<2x2x3x4xf32> {
  %hidden = arith.constant dense<-1.0E+9> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Where"(%pad, %s, %hidden) {} opset 18 node "m" : (tensor<2x1x1x3xi1>, tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// Along another axis this is not an attention.
// CHECK-LABEL: func.func @other_axis
// CHECK: onnx.node "Softmax"
// CHECK: onnx.node "MatMul"
// CHECK-NOT: onnx.node
// CHECK: return
func.func @other_axis(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%s) {axis = 2 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}


// Another op reads the weights, so only the softmax is recognized.
// CHECK-LABEL: func.func @weights_are_read
// CHECK: %[[P:.*]] = onnx.node "MaskedSoftmax"(%{{.*}}, %{{.*}}, %{{.*}}) {causal = 1 : i64,
// CHECK: onnx.node "MatMul"(%[[P]], %arg2)
// CHECK: return %[[P]]
// REMARK-DAG: softmax between products of another form than attention's (causal) at node 'p'
func.func @weights_are_read(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) {
  %mask = arith.constant dense<[[[[0.0, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, -3.40282347E+38], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x3x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x3x3xf32>
  %m = onnx.node "Add"(%s, %mask) {} opset 18 node "m" : (tensor<2x2x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %p, %y : tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>
}

// What reads a test for NaN cuts the gradient of rows without a key, so nothing is recognized.
// CHECK-LABEL: func.func @tested_weights
// CHECK-NOT: domain "zero"
// CHECK: return
func.func @tested_weights(%x: tensor<3x4xf32>, %hidden: tensor<3x4xi1>) -> tensor<3x4xf32> {
  %fill = arith.constant dense<0xFF800000> : tensor<f32>
  %half = arith.constant dense<0.5> : tensor<f32>
  %m = onnx.node "Where"(%hidden, %fill, %x) {} opset 18 node "m" : (tensor<3x4xi1>, tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %t = onnx.node "IsNaN"(%p) {} opset 18 node "t" : (tensor<3x4xf32>) -> tensor<3x4xi1>
  %y = onnx.node "Where"(%t, %half, %p) {} opset 18 node "y" : (tensor<3x4xi1>, tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// Batch and heads are merged for both products; queries and keys are scaled before that; rows that
// show no key are found by their scores.
// CHECK-LABEL: func.func @merged
// CHECK: %{{.*}}:2 = onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {{.*}}guard = 1 : i64{{.*}}scale = 2.500000e-01
// CHECK-NOT: onnx.node "Transpose"
// CHECK: return
func.func @merged(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %pad: tensor<2x1x1x3xi1>) -> tensor<4x3x4xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %last = arith.constant dense<3> : tensor<1xi64>
  %rows = arith.constant dense<[4, 3, 4]> : tensor<3xi64>
  %columns = arith.constant dense<[4, 4, 3]> : tensor<3xi64>
  %square = arith.constant dense<[4, 3, 3]> : tensor<3xi64>
  %heads = arith.constant dense<[2, 2, 3, 3]> : tensor<4xi64>
  %qs = onnx.node "Mul"(%q, %half) {} opset 23 node "qs" : (tensor<2x2x3x4xf32>, tensor<f32>) -> tensor<2x2x3x4xf32>
  %qm = onnx.node "Reshape"(%qs, %rows) {} opset 23 node "qm" : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 23 node "kt" : (tensor<2x2x3x4xf32>) -> tensor<2x2x4x3xf32>
  %ks = onnx.node "Mul"(%kt, %half) {} opset 23 node "ks" : (tensor<2x2x4x3xf32>, tensor<f32>) -> tensor<2x2x4x3xf32>
  %km = onnx.node "Reshape"(%ks, %columns) {} opset 23 node "km" : (tensor<2x2x4x3xf32>, tensor<3xi64>) -> tensor<4x4x3xf32>
  %vm = onnx.node "Reshape"(%v, %rows) {} opset 23 node "vm" : (tensor<2x2x3x4xf32>, tensor<3xi64>) -> tensor<4x3x4xf32>
  %s = onnx.node "MatMul"(%qm, %km) {} opset 23 node "s" : (tensor<4x3x4xf32>, tensor<4x4x3xf32>) -> tensor<4x3x3xf32>
  %sh = onnx.node "Reshape"(%s, %heads) {} opset 23 node "sh" : (tensor<4x3x3xf32>, tensor<4xi64>) -> tensor<2x2x3x3xf32>
  %mask = onnx.node "Where"(%pad, %zero, %inf) {} opset 23 node "mask" : (tensor<2x1x1x3xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x1x3xf32>
  %x = onnx.node "Add"(%sh, %mask) {} opset 23 node "x" : (tensor<2x2x3x3xf32>, tensor<2x1x1x3xf32>) -> tensor<2x2x3x3xf32>
  %p = onnx.node "Softmax"(%x) {axis = 3 : i64} opset 13 node "p" : (tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %hidden = onnx.node "Equal"(%x, %inf) {} opset 23 node "hidden" : (tensor<2x2x3x3xf32>, tensor<f32>) -> tensor<2x2x3x3xi1>
  %shown = onnx.node "Not"(%hidden) {} opset 23 node "shown" : (tensor<2x2x3x3xi1>) -> tensor<2x2x3x3xi1>
  %bytes = onnx.node "Cast"(%shown) {to = 3 : i64} opset 23 node "bytes" : (tensor<2x2x3x3xi1>) -> tensor<2x2x3x3xi8>
  %most = onnx.node "ReduceMax"(%bytes, %last) {keepdims = 1 : i64} opset 23 node "most" : (tensor<2x2x3x3xi8>, tensor<1xi64>) -> tensor<2x2x3x1xi8>
  %any = onnx.node "Cast"(%most) {to = 9 : i64} opset 23 node "any" : (tensor<2x2x3x1xi8>) -> tensor<2x2x3x1xi1>
  %none = onnx.node "Not"(%any) {} opset 23 node "none" : (tensor<2x2x3x1xi1>) -> tensor<2x2x3x1xi1>
  %w = onnx.node "Where"(%none, %zero, %p) {} opset 23 node "w" : (tensor<2x2x3x1xi1>, tensor<f32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %wm = onnx.node "Reshape"(%w, %square) {} opset 23 node "wm" : (tensor<2x2x3x3xf32>, tensor<3xi64>) -> tensor<4x3x3xf32>
  %y = onnx.node "MatMul"(%wm, %vm) {} opset 23 node "y" : (tensor<4x3x3xf32>, tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  return %y : tensor<4x3x4xf32>
}
