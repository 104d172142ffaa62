// RUN: zero-opt %s --zero-fold-transposes --zero-recognise-attention --remark-format=emitRemark --remarks-filter=recognise 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// A window of two keys: a comparison of distances beside one of positions.
// CHECK-LABEL: func.func @sliding
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 0 : i64, scale = 1.000000e+00 : f32, window = 2 : i64} domain "zero" {{.*}} none, none) ->
// REMARK-DAG: attention (causal, window) at node 'y'
func.func @sliding(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %keys = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %queries = arith.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %c = onnx.node "LessOrEqual"(%keys, %queries) {} opset 18 node "c" : (tensor<4xi64>, tensor<4x1xi64>) -> tensor<4x4xi1>
  %two = arith.constant dense<2> : tensor<i64>
  %distance = onnx.node "Sub"(%queries, %keys) {} opset 18 node "distance" : (tensor<4x1xi64>, tensor<4xi64>) -> tensor<4x4xi64>
  %near = onnx.node "Less"(%distance, %two) {} opset 18 node "near" : (tensor<4x4xi64>, tensor<i64>) -> tensor<4x4xi1>
  %both = onnx.node "And"(%c, %near) {} opset 18 node "both" : (tensor<4x4xi1>, tensor<4x4xi1>) -> tensor<4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%both, %s, %inf) {} opset 18 node "m" : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// Positions that Range counts, as front ends write them.
// CHECK-LABEL: func.func @counted
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64, {{.*}} window = 2 : i64} domain "zero" {{.*}} none, none) ->
func.func @counted(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %zero = arith.constant dense<0> : tensor<i64>
  %one = arith.constant dense<1> : tensor<i64>
  %two = arith.constant dense<2> : tensor<i64>
  %four = arith.constant dense<4> : tensor<i64>
  %column = arith.constant dense<[4, 1]> : tensor<2xi64>
  %keys = onnx.node "Range"(%zero, %four, %one) {} opset 23 node "keys" : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4xi64>
  %queries = onnx.node "Reshape"(%keys, %column) {} opset 23 node "queries" : (tensor<4xi64>, tensor<2xi64>) -> tensor<4x1xi64>
  %distance = onnx.node "Sub"(%queries, %keys) {} opset 23 node "distance" : (tensor<4x1xi64>, tensor<4xi64>) -> tensor<4x4xi64>
  %near = onnx.node "Less"(%distance, %two) {} opset 23 node "near" : (tensor<4x4xi64>, tensor<i64>) -> tensor<4x4xi1>
  %y = onnx.node "Attention"(%q, %k, %v, %near) {is_causal = 1 : i64} opset 23 node "attention" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>, tensor<4x4xi1>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// One key on either side, baked into the graph.
// CHECK-LABEL: func.func @local
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 1 : i64, scale = 1.000000e+00 : f32, window = 3 : i64} domain "zero" {{.*}} none, none) ->
func.func @local(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %near = arith.constant dense<[[true, true, false, false], [true, true, true, false], [false, true, true, true], [false, false, true, true]]> : tensor<4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%near, %s, %inf) {} opset 18 node "m" : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// Keys that are not more than one position before the query; all later ones.
// CHECK-LABEL: func.func @later
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {causal = 0 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 0 : i64, scale = 1.000000e+00 : f32, window = 2 : i64} domain "zero" {{.*}} none, none) ->
// REMARK-DAG: attention (window) at node 'y'
func.func @later(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %late = arith.constant dense<[[true, true, true, true], [true, true, true, true], [false, true, true, true], [false, false, true, true]]> : tensor<4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%late, %s, %inf) {} opset 18 node "m" : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// All queries see the first two keys.
// CHECK-LABEL: func.func @prefix
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 0 : i64, prefix = 2 : i64, scale = 1.000000e+00 : f32} domain "zero" {{.*}} none, none) ->
// REMARK-DAG: attention (causal, prefix) at node 'y'
func.func @prefix(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %shown = arith.constant dense<[[true, true, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%shown, %s, %inf) {} opset 18 node "m" : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// Numbers of documents, one for each position of a sample.
// CHECK-LABEL: func.func @documents
// CHECK: %[[IDS:.*]] = onnx.node "Reshape"(%arg3, %{{.*}}) {{.*}} -> tensor<2x4xi64>
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 0 : i64, scale = 1.000000e+00 : f32} domain "zero" {{.*}} none, none, tensor<2x4xi64>, tensor<2x4xi64>) ->
// REMARK-DAG: attention (causal, segments) at node 'y'
func.func @documents(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>, %rows: tensor<2x1x4x1xi64>, %columns: tensor<2x1x1x4xi64>) -> tensor<2x2x4x4xf32> {
  %keys = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %queries = arith.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %c = onnx.node "LessOrEqual"(%keys, %queries) {} opset 18 node "c" : (tensor<4xi64>, tensor<4x1xi64>) -> tensor<4x4xi1>
  %same = onnx.node "Equal"(%rows, %columns) {} opset 18 node "same" : (tensor<2x1x4x1xi64>, tensor<2x1x1x4xi64>) -> tensor<2x1x4x4xi1>
  %both = onnx.node "And"(%c, %same) {} opset 18 node "both" : (tensor<4x4xi1>, tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%both, %s, %inf) {} opset 18 node "m" : (tensor<2x1x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// Documents of a mask that has no dimension of heads before it is reshaped.
// CHECK-LABEL: func.func @reshaped
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, offset = 0 : i64, scale = 1.000000e+00 : f32} domain "zero" {{.*}} none, none, tensor<2x4xi64>, tensor<2x4xi64>) ->
func.func @reshaped(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>, %rows: tensor<2x4x1xi64>, %columns: tensor<2x1x4xi64>) -> tensor<2x2x4x4xf32> {
  %keys = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %queries = arith.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %c = onnx.node "LessOrEqual"(%keys, %queries) {} opset 18 node "c" : (tensor<4xi64>, tensor<4x1xi64>) -> tensor<4x4xi1>
  %shape = arith.constant dense<[2, 1, 4, 4]> : tensor<4xi64>
  %same = onnx.node "Equal"(%rows, %columns) {} opset 18 node "same" : (tensor<2x4x1xi64>, tensor<2x1x4xi64>) -> tensor<2x4x4xi1>
  %both = onnx.node "And"(%c, %same) {} opset 18 node "both" : (tensor<4x4xi1>, tensor<2x4x4xi1>) -> tensor<2x4x4xi1>
  %all = onnx.node "Reshape"(%both, %shape) {allowzero = 1 : i64} opset 18 node "all" : (tensor<2x4x4xi1>, tensor<4xi64>) -> tensor<2x1x4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%all, %s, %inf) {} opset 18 node "m" : (tensor<2x1x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// A hole in the window: a mask.
// CHECK-LABEL: func.func @hole
// CHECK: onnx.node "Attention"({{.*}}) {causal = 0 : i64, {{.*}}(tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>, none, tensor<4x4xi1>) ->
func.func @hole(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %shown = arith.constant dense<[[true, false, false, false], [true, true, false, false], [true, false, true, false], [false, true, true, true]]> : tensor<4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%shown, %s, %inf) {} opset 18 node "m" : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// Numbers of heads are none of documents.
// CHECK-LABEL: func.func @heads
// CHECK: onnx.node "Attention"({{.*}}none, tensor<2x2x4x4xi1>) ->
func.func @heads(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>, %rows: tensor<2x2x4x1xi64>, %columns: tensor<2x1x1x4xi64>) -> tensor<2x2x4x4xf32> {
  %same = onnx.node "Equal"(%rows, %columns) {} opset 18 node "same" : (tensor<2x2x4x1xi64>, tensor<2x1x1x4xi64>) -> tensor<2x2x4x4xi1>
  %inf = arith.constant dense<0xFF800000> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%same, %s, %inf) {} opset 18 node "m" : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %nan = onnx.node "IsNaN"(%p) {} opset 18 node "nan" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %g = onnx.node "Where"(%nan, %zero, %p) {} opset 18 node "g" : (tensor<2x2x4x4xi1>, tensor<f32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%g, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// The same as JAX writes it: no heads before the reshape, and scores replaced by a number, which differs from adding
// it where a query sees nothing. Each query sees itself: both sides compare the same positions.
// CHECK-LABEL: func.func @documents_of_jax
// CHECK: onnx.node "Attention"(%arg0, %arg1, %arg2, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {causal = 1 : i64, fill = -1.000000e+30 : f32, guard = 0 : i64, offset = 0 : i64, scale = 1.000000e+00 : f32} domain "zero" {{.*}} none, none, tensor<2x4xi64>, tensor<2x4xi64>) ->
// CHECK-NOT: "Softmax"
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64, {{.*}} none, none, tensor<2x4xi64>, tensor<2x4xi64>) ->
func.func @documents_of_jax(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>, %ids: tensor<2x4xi64>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %s0 = arith.constant dense<[2, 4, 1]> : tensor<3xi64>
  %s1 = arith.constant dense<[2, 1, 4]> : tensor<3xi64>
  %s2 = arith.constant dense<[2, 1, 4, 4]> : tensor<4xi64>
  %rows = onnx.node "Reshape"(%ids, %s0) {} opset 18 node "rows" : (tensor<2x4xi64>, tensor<3xi64>) -> tensor<2x4x1xi64>
  %columns = onnx.node "Reshape"(%ids, %s1) {} opset 18 node "columns" : (tensor<2x4xi64>, tensor<3xi64>) -> tensor<2x1x4xi64>
  %same = onnx.node "Equal"(%rows, %columns) {} opset 18 node "same" : (tensor<2x4x1xi64>, tensor<2x1x4xi64>) -> tensor<2x4x4xi1>
  %c = arith.constant dense<[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %both = onnx.node "And"(%same, %c) {} opset 18 node "both" : (tensor<2x4x4xi1>, tensor<4x4xi1>) -> tensor<2x4x4xi1>
  %mask = onnx.node "Reshape"(%both, %s2) {} opset 18 node "mask" : (tensor<2x4x4xi1>, tensor<4xi64>) -> tensor<2x1x4x4xi1>
  %low = arith.constant dense<-1.0e+30> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%mask, %s, %low) {} opset 18 node "m" : (tensor<2x1x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %number = onnx.node "Where"(%both, %zero, %low) {} opset 18 node "number" : (tensor<2x4x4xi1>, tensor<f32>, tensor<f32>) -> tensor<2x4x4xf32>
  %bias = onnx.node "Reshape"(%number, %s2) {} opset 18 node "bias" : (tensor<2x4x4xf32>, tensor<4xi64>) -> tensor<2x1x4x4xf32>
  %kt2 = onnx.node "Transpose"(%y) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt2" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %t = onnx.node "MatMul"(%q, %kt2) {} opset 18 node "t" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %n = onnx.node "Add"(%t, %bias) {} opset 18 node "n" : (tensor<2x2x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x2x4x4xf32>
  %o = onnx.node "Softmax"(%n) {axis = -1 : i64} opset 18 node "o" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %z = onnx.node "MatMul"(%o, %v) {} opset 18 node "z" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y, %z : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}

// Other numbers of queries than of keys: a query may see nothing, and then sees all of them alike.
// CHECK-LABEL: func.func @documents_elsewhere
// CHECK: onnx.node "Softmax"
func.func @documents_elsewhere(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>, %rows: tensor<2x1x4x1xi64>, %columns: tensor<2x1x1x4xi64>) -> tensor<2x2x4x4xf32> {
  %same = onnx.node "Equal"(%rows, %columns) {} opset 18 node "same" : (tensor<2x1x4x1xi64>, tensor<2x1x1x4xi64>) -> tensor<2x1x4x4xi1>
  %low = arith.constant dense<-1.0e+30> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%same, %s, %low) {} opset 18 node "m" : (tensor<2x1x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y : tensor<2x2x4x4xf32>
}

// jax.nn.dot_product_attention computes the mask with all heads and a dimension more; Flax makes numbers of booleans
// and compares them with zero.
// CHECK-LABEL: func.func @documents_of_libraries
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64, {{.*}} none, none, tensor<2x4xi64>, tensor<2x4xi64>) ->
// CHECK-NOT: "Softmax"
// CHECK: onnx.node "Attention"({{.*}}) {causal = 1 : i64, {{.*}} none, none, tensor<2x4xi64>, tensor<2x4xi64>) ->
func.func @documents_of_libraries(%q: tensor<2x2x4x4xf32>, %k: tensor<2x2x4x4xf32>, %v: tensor<2x2x4x4xf32>, %ids: tensor<2x4xi64>) -> (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) {
  %s0 = arith.constant dense<[2, 4, 1]> : tensor<3xi64>
  %s1 = arith.constant dense<[2, 1, 4]> : tensor<3xi64>
  %s5 = arith.constant dense<[1, 2, 1, 4, 4]> : tensor<5xi64>
  %heads = arith.constant dense<[1, 2, 2, 4, 4]> : tensor<5xi64>
  %s4 = arith.constant dense<[2, 2, 4, 4]> : tensor<4xi64>
  %s2 = arith.constant dense<[2, 1, 4, 4]> : tensor<4xi64>
  %rows = onnx.node "Reshape"(%ids, %s0) {} opset 18 node "rows" : (tensor<2x4xi64>, tensor<3xi64>) -> tensor<2x4x1xi64>
  %columns = onnx.node "Reshape"(%ids, %s1) {} opset 18 node "columns" : (tensor<2x4xi64>, tensor<3xi64>) -> tensor<2x1x4xi64>
  %same = onnx.node "Equal"(%rows, %columns) {} opset 18 node "same" : (tensor<2x4x1xi64>, tensor<2x1x4xi64>) -> tensor<2x4x4xi1>
  %c = arith.constant dense<[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]> : tensor<4x4xi1>
  %five = onnx.node "Reshape"(%same, %s5) {} opset 18 node "five" : (tensor<2x4x4xi1>, tensor<5xi64>) -> tensor<1x2x1x4x4xi1>
  %wide = onnx.node "Expand"(%five, %heads) {} opset 18 node "wide" : (tensor<1x2x1x4x4xi1>, tensor<5xi64>) -> tensor<1x2x2x4x4xi1>
  %all = onnx.node "And"(%wide, %c) {} opset 18 node "all" : (tensor<1x2x2x4x4xi1>, tensor<4x4xi1>) -> tensor<1x2x2x4x4xi1>
  %mask = onnx.node "Reshape"(%all, %s4) {} opset 18 node "mask" : (tensor<1x2x2x4x4xi1>, tensor<4xi64>) -> tensor<2x2x4x4xi1>
  %low = arith.constant dense<-2.0e+38> : tensor<f32>
  %kt = onnx.node "Transpose"(%k) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = onnx.node "MatMul"(%q, %kt) {} opset 18 node "s" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %m = onnx.node "Where"(%mask, %s, %low) {} opset 18 node "m" : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %p = onnx.node "Softmax"(%m) {axis = -1 : i64} opset 18 node "p" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = onnx.node "MatMul"(%p, %v) {} opset 18 node "y" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %one = onnx.node "Reshape"(%same, %s2) {} opset 18 node "one" : (tensor<2x4x4xi1>, tensor<4xi64>) -> tensor<2x1x4x4xi1>
  %number = onnx.node "Cast"(%one) {to = 1 : i64} opset 18 node "number" : (tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xf32>
  %is = onnx.node "Equal"(%number, %zero) {} opset 18 node "is" : (tensor<2x1x4x4xf32>, tensor<f32>) -> tensor<2x1x4x4xi1>
  %not = onnx.node "Not"(%is) {} opset 18 node "not" : (tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xi1>
  %both = onnx.node "And"(%not, %c) {} opset 18 node "both" : (tensor<2x1x4x4xi1>, tensor<4x4xi1>) -> tensor<2x1x4x4xi1>
  %again = onnx.node "Cast"(%both) {to = 1 : i64} opset 18 node "again" : (tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xf32>
  %more = onnx.node "Greater"(%again, %zero) {} opset 18 node "more" : (tensor<2x1x4x4xf32>, tensor<f32>) -> tensor<2x1x4x4xi1>
  %kt2 = onnx.node "Transpose"(%y) {perm = array<i64: 0, 1, 3, 2>} opset 18 node "kt2" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %t = onnx.node "MatMul"(%q, %kt2) {} opset 18 node "t" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %n = onnx.node "Where"(%more, %t, %low) {} opset 18 node "n" : (tensor<2x1x4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
  %o = onnx.node "Softmax"(%n) {axis = -1 : i64} opset 18 node "o" : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %z = onnx.node "MatMul"(%o, %v) {} opset 18 node "z" : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  return %y, %z : tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>
}
