// RUN: zero-opt %s --zero-fold-attention-layouts | FileCheck %s

// Parts of one row with equal numbers of heads: nothing is moved.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: (%[[QKV:.*]]: tensor<6x48xf32>)
// CHECK: %[[NONE:.*]] = onnx.none
// CHECK: %[[ROWS:.*]] = onnx.node "Reshape"(%[[QKV]], %{{.*}}) {{.*}} -> tensor<2x3x48xf32>
// CHECK: %[[O:.*]]:2 = onnx.node "Attention"(%[[ROWS]], %{{.*}}, %{{.*}}, %[[NONE]], %[[NONE]]) {causal = 1 : i64, packed_heads = array<i64: 4, 4>, rows_first = array<i64: 1, 1, 1, 1>, scale = 5.000000e-01 : f32} domain "zero" {{.*}} (tensor<2x3x48xf32>, none, none, none, none) -> (tensor<2x3x4x4xf32>, tensor<2x4x3xf32>)
// CHECK-NEXT: onnx.node "Reshape"(%[[O]]#0,
// CHECK-NOT: "Split"
// CHECK-NOT: "Transpose"
func.func @packed(%qkv: tensor<6x48xf32>) -> tensor<6x16xf32> {
  %none = onnx.none
  %rows = arith.constant dense<[2, 3, 48]> : tensor<3xi64>
  %heads = arith.constant dense<[2, 3, 4, 4]> : tensor<4xi64>
  %matrix = arith.constant dense<[6, 16]> : tensor<2xi64>
  %r = onnx.node "Reshape"(%qkv, %rows) {} opset 18 : (tensor<6x48xf32>, tensor<3xi64>) -> tensor<2x3x48xf32>
  %s:3 = onnx.node "Split"(%r) {axis = 2 : i64, num_outputs = 3 : i64} opset 18 : (tensor<2x3x48xf32>) -> (tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>)
  %qr = onnx.node "Reshape"(%s#0, %heads) {} opset 18 : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %kr = onnx.node "Reshape"(%s#1, %heads) {} opset 18 : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %vr = onnx.node "Reshape"(%s#2, %heads) {} opset 18 : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %q = onnx.node "Transpose"(%qr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %k = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %v = onnx.node "Transpose"(%vr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {causal = 1 : i64, scale = 5.000000e-01 : f32} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  %t = onnx.node "Transpose"(%o#0) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %y = onnx.node "Reshape"(%t, %matrix) {} opset 18 : (tensor<2x3x4x4xf32>, tensor<2xi64>) -> tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}

// Four heads of queries, two of keys and of wider values.
// CHECK-LABEL: func.func @grouped
// CHECK: onnx.node "Attention"(%arg0, {{.*}}) {packed_heads = array<i64: 4, 2>, rows_first = array<i64: 1, 1, 1, 0>} {{.*}} -> (tensor<2x4x3x6xf32>, tensor<2x4x3xf32>)
// CHECK-NOT: "Split"
func.func @grouped(%qkv: tensor<2x3x36xf32>) -> tensor<2x4x3x6xf32> {
  %none = onnx.none
  %queries = arith.constant dense<[2, 3, 4, 4]> : tensor<4xi64>
  %keys = arith.constant dense<[2, 3, 2, 4]> : tensor<4xi64>
  %values = arith.constant dense<[2, 3, 2, 6]> : tensor<4xi64>
  %sizes = arith.constant dense<[16, 8, 12]> : tensor<3xi64>
  %s:3 = onnx.node "Split"(%qkv, %sizes) {axis = -1 : i64} opset 18 : (tensor<2x3x36xf32>, tensor<3xi64>) -> (tensor<2x3x16xf32>, tensor<2x3x8xf32>, tensor<2x3x12xf32>)
  %qr = onnx.node "Reshape"(%s#0, %queries) {} opset 18 : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %kr = onnx.node "Reshape"(%s#1, %keys) {} opset 18 : (tensor<2x3x8xf32>, tensor<4xi64>) -> tensor<2x3x2x4xf32>
  %vr = onnx.node "Reshape"(%s#2, %values) {} opset 18 : (tensor<2x3x12xf32>, tensor<4xi64>) -> tensor<2x3x2x6xf32>
  %q = onnx.node "Transpose"(%qr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %k = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x2x4xf32>) -> tensor<2x2x3x4xf32>
  %v = onnx.node "Transpose"(%vr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x2x6xf32>) -> tensor<2x2x3x6xf32>
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x6xf32>, none, none) -> (tensor<2x4x3x6xf32>, tensor<2x4x3xf32>)
  return %o#0 : tensor<2x4x3x6xf32>
}

// Parts of a stack that are moved to the front and selected one by one.
// CHECK-LABEL: func.func @stacked
// CHECK: %[[ROWS:.*]] = onnx.node "Reshape"(%arg0, {{.*}} -> tensor<2x3x48xf32>
// CHECK: onnx.node "Attention"(%[[ROWS]], {{.*}}) {packed_heads = array<i64: 4, 4>, rows_first = array<i64: 1, 1, 1, 0>}
// CHECK-NOT: "Gather"
// CHECK-NOT: "Transpose"
func.func @stacked(%qkv: tensor<2x3x3x4x4xf32>) -> tensor<2x4x3x4xf32> {
  %none = onnx.none
  %i0 = arith.constant dense<0> : tensor<i64>
  %i1 = arith.constant dense<1> : tensor<i64>
  %i2 = arith.constant dense<2> : tensor<i64>
  %t = onnx.node "Transpose"(%qkv) {perm = array<i64: 2, 0, 3, 1, 4>} opset 18 : (tensor<2x3x3x4x4xf32>) -> tensor<3x2x4x3x4xf32>
  %q = onnx.node "Gather"(%t, %i0) {axis = 0 : i64} opset 18 : (tensor<3x2x4x3x4xf32>, tensor<i64>) -> tensor<2x4x3x4xf32>
  %k = onnx.node "Gather"(%t, %i1) {axis = 0 : i64} opset 18 : (tensor<3x2x4x3x4xf32>, tensor<i64>) -> tensor<2x4x3x4xf32>
  %v = onnx.node "Gather"(%t, %i2) {axis = 0 : i64} opset 18 : (tensor<3x2x4x3x4xf32>, tensor<i64>) -> tensor<2x4x3x4xf32>
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  return %o#0 : tensor<2x4x3x4xf32>
}

// The same parts with keys and values exchanged: not such a form.
// CHECK-LABEL: func.func @exchanged
// CHECK: %[[S:.*]]:3 = onnx.node "Split"
// CHECK: onnx.node "Attention"({{.*}}) {} domain
func.func @exchanged(%qkv: tensor<2x3x3x4x4xf32>) -> tensor<2x4x3x4xf32> {
  %none = onnx.none
  %heads = arith.constant dense<[2, 4, 3, 4]> : tensor<4xi64>
  %t = onnx.node "Transpose"(%qkv) {perm = array<i64: 2, 0, 3, 1, 4>} opset 18 : (tensor<2x3x3x4x4xf32>) -> tensor<3x2x4x3x4xf32>
  %s:3 = onnx.node "Split"(%t) {axis = 0 : i64, num_outputs = 3 : i64} opset 18 : (tensor<3x2x4x3x4xf32>) -> (tensor<1x2x4x3x4xf32>, tensor<1x2x4x3x4xf32>, tensor<1x2x4x3x4xf32>)
  %q = onnx.node "Reshape"(%s#0, %heads) {} opset 18 : (tensor<1x2x4x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %k = onnx.node "Reshape"(%s#2, %heads) {} opset 18 : (tensor<1x2x4x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %v = onnx.node "Reshape"(%s#1, %heads) {} opset 18 : (tensor<1x2x4x3x4xf32>, tensor<4xi64>) -> tensor<2x4x3x4xf32>
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  return %o#0 : tensor<2x4x3x4xf32>
}

// Keys are the first part, and queries are rotated, each separately. The tables are the same for
// all heads, so the rotation can be moved, too.
// CHECK-LABEL: func.func @turned
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4x4xf32>, %[[KV:.*]]: tensor<2x3x32xf32>, %[[COS:.*]]: tensor<1x1x3x4xf32>, %[[SIN:.*]]: tensor<3x4xf32>)
// CHECK-DAG: %[[C:.*]] = onnx.node "Reshape"(%[[COS]], {{.*}} -> tensor<1x3x1x4xf32>
// CHECK-DAG: %[[S:.*]] = onnx.node "Reshape"(%[[SIN]], {{.*}} -> tensor<1x3x1x4xf32>
// CHECK: %[[Q:.*]] = onnx.node "Rotary"(%[[X]], %[[C]], %[[S]]) {inverse = 0 : i64}
// CHECK: onnx.node "Attention"(%[[Q]], %{{.*}}, %{{.*}}, {{.*}}) {rows_first = array<i64: 1, 1, 1, 0>}
// CHECK-NOT: "Transpose"
func.func @turned(%x: tensor<2x3x4x4xf32>, %kv: tensor<2x3x32xf32>, %cos: tensor<1x1x3x4xf32>, %sin: tensor<3x4xf32>) -> tensor<2x4x3x4xf32> {
  %none = onnx.none
  %heads = arith.constant dense<[2, 3, 4, 4]> : tensor<4xi64>
  %s:2 = onnx.node "Split"(%kv) {axis = 2 : i64, num_outputs = 2 : i64} opset 18 : (tensor<2x3x32xf32>) -> (tensor<2x3x16xf32>, tensor<2x3x16xf32>)
  %kr = onnx.node "Reshape"(%s#0, %heads) {} opset 18 : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %vr = onnx.node "Reshape"(%s#1, %heads) {} opset 18 : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %qt = onnx.node "Transpose"(%x) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %q = onnx.node "Rotary"(%qt, %cos, %sin) {inverse = 0 : i64} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<1x1x3x4xf32>, tensor<3x4xf32>) -> tensor<2x4x3x4xf32>
  %k = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %v = onnx.node "Transpose"(%vr) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  return %o#0 : tensor<2x4x3x4xf32>
}

// Tables that differ between heads, and another order of dimensions: no change.
// CHECK-LABEL: func.func @stays
// CHECK: %[[T:.*]] = onnx.node "Transpose"(%arg0)
// CHECK: %[[Q:.*]] = onnx.node "Rotary"(%[[T]], %arg2, %arg2)
// CHECK: %[[K:.*]] = onnx.node "Transpose"(%arg1)
// CHECK: onnx.node "Attention"(%[[Q]], %[[K]], %[[K]], {{.*}}) {} domain
func.func @stays(%x: tensor<2x3x4x4xf32>, %y: tensor<3x2x4x4xf32>, %table: tensor<4x3x4xf32>) -> tensor<2x4x3x4xf32> {
  %none = onnx.none
  %qt = onnx.node "Transpose"(%x) {perm = array<i64: 0, 2, 1, 3>} opset 18 : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %q = onnx.node "Rotary"(%qt, %table, %table) {} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<4x3x4xf32>, tensor<4x3x4xf32>) -> tensor<2x4x3x4xf32>
  %k = onnx.node "Transpose"(%y) {perm = array<i64: 1, 2, 0, 3>} opset 18 : (tensor<3x2x4x4xf32>) -> tensor<2x4x3x4xf32>
  %o:2 = onnx.node "Attention"(%q, %k, %k, %none, %none) {} domain "zero" opset 1 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  return %o#0 : tensor<2x4x3x4xf32>
}

// Forward and backward read one packed row, which Slices cut, and backward writes one.
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[QKV:.*]]: tensor<2x3x48xf32>, %[[DY:.*]]: tensor<2x3x16xf32>)
// CHECK: %[[O:.*]]:2 = onnx.node "Attention"(%[[QKV]], {{.*}}packed_heads = array<i64: 4, 4>, rows_first = array<i64: 1, 1, 1, 1>
// CHECK: %[[DO:.*]] = onnx.node "Reshape"(%[[DY]],{{.*}} -> tensor<2x3x4x4xf32>
// CHECK: %[[G:.*]] = onnx.node "AttentionGrad"(%[[DO]], %[[QKV]], %{{.*}}, %{{.*}}, %[[O]]#0, %[[O]]#1,{{.*}}packed_heads = array<i64: 4, 4>, rows_first = array<i64: 1, 1, 1, 1>{{.*}} -> tensor<2x3x48xf32>
// CHECK-NOT: onnx.node
// CHECK: return %{{.*}}, %[[G]]
func.func @gradient(%qkv: tensor<2x3x48xf32>, %dy: tensor<2x3x16xf32>)
    -> (tensor<2x3x16xf32>, tensor<2x3x48xf32>) {
  %c0 = arith.constant dense<[0]> : tensor<1xi64>
  %c1 = arith.constant dense<[16]> : tensor<1xi64>
  %c2 = arith.constant dense<[2]> : tensor<1xi64>
  %c3 = arith.constant dense<[1]> : tensor<1xi64>
  %qc = onnx.node "Slice"(%qkv, %c0, %c1, %c2, %c3) {} opset 23 node "qc"
      : (tensor<2x3x48xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x16xf32>
  %c4 = arith.constant dense<[2, 3, 4, 4]> : tensor<4xi64>
  %qr = onnx.node "Reshape"(%qc, %c4) {} opset 23 node "qr"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %q = onnx.node "Transpose"(%qr) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "q"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %c5 = arith.constant dense<[32]> : tensor<1xi64>
  %kc = onnx.node "Slice"(%qkv, %c1, %c5, %c2, %c3) {} opset 23 node "kc"
      : (tensor<2x3x48xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x16xf32>
  %kr = onnx.node "Reshape"(%kc, %c4) {} opset 23 node "kr"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %k = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "k"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %c6 = arith.constant dense<[48]> : tensor<1xi64>
  %vc = onnx.node "Slice"(%qkv, %c5, %c6, %c2, %c3) {} opset 23 node "vc"
      : (tensor<2x3x48xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x16xf32>
  %vr = onnx.node "Reshape"(%vc, %c4) {} opset 23 node "vr"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %v = onnx.node "Transpose"(%vr) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "v"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %none = onnx.none
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {causal = 1 : i64, scale = 5.000000e-01 : f32} domain "zero" opset 1
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  %yt = onnx.node "Transpose"(%o#0) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "yt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %c7 = arith.constant dense<[2, 3, 16]> : tensor<3xi64>
  %y = onnx.node "Reshape"(%yt, %c7) {} opset 23 node "y"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %dor = onnx.node "Reshape"(%dy, %c4) {} opset 23 node "dor"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %do = onnx.node "Transpose"(%dor) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "do"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %g:3 = onnx.node "AttentionGrad"(%do, %q, %k, %v, %o#0, %o#1, %none, %none) {causal = 1 : i64, scale = 5.000000e-01 : f32} domain "zero" opset 1
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>)
  %dqt = onnx.node "Transpose"(%g#0) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dqt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %dq = onnx.node "Reshape"(%dqt, %c7) {} opset 23 node "dq"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %dkt = onnx.node "Transpose"(%g#1) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dkt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %dk = onnx.node "Reshape"(%dkt, %c7) {} opset 23 node "dk"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %dvt = onnx.node "Transpose"(%g#2) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dvt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %dv = onnx.node "Reshape"(%dvt, %c7) {} opset 23 node "dv"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %j = onnx.node "Concat"(%dq, %dk, %dv) {axis = 2 : i64} opset 23 node "j"
      : (tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>) -> tensor<2x3x48xf32>
  return %y, %j : tensor<2x3x16xf32>, tensor<2x3x48xf32>
}

// The gradients are read one by one: only their rows come first.
// CHECK-LABEL: func.func @parts_of_gradient
// CHECK-NOT: packed_heads
// CHECK: %[[G:.*]]:3 = onnx.node "AttentionGrad"({{.*}}rows_first = array<i64: 1, 1, 1, 1>
// CHECK-NOT: "Transpose"
func.func @parts_of_gradient(%qkv: tensor<2x3x48xf32>, %dy: tensor<2x3x16xf32>)
    -> (tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>) {
  %c0 = arith.constant dense<[0]> : tensor<1xi64>
  %c1 = arith.constant dense<[16]> : tensor<1xi64>
  %c2 = arith.constant dense<[2]> : tensor<1xi64>
  %c3 = arith.constant dense<[1]> : tensor<1xi64>
  %qc = onnx.node "Slice"(%qkv, %c0, %c1, %c2, %c3) {} opset 23 node "qc"
      : (tensor<2x3x48xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x16xf32>
  %c4 = arith.constant dense<[2, 3, 4, 4]> : tensor<4xi64>
  %qr = onnx.node "Reshape"(%qc, %c4) {} opset 23 node "qr"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %q = onnx.node "Transpose"(%qr) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "q"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %c5 = arith.constant dense<[32]> : tensor<1xi64>
  %kc = onnx.node "Slice"(%qkv, %c1, %c5, %c2, %c3) {} opset 23 node "kc"
      : (tensor<2x3x48xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x16xf32>
  %kr = onnx.node "Reshape"(%kc, %c4) {} opset 23 node "kr"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %k = onnx.node "Transpose"(%kr) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "k"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %c6 = arith.constant dense<[48]> : tensor<1xi64>
  %vc = onnx.node "Slice"(%qkv, %c5, %c6, %c2, %c3) {} opset 23 node "vc"
      : (tensor<2x3x48xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x16xf32>
  %vr = onnx.node "Reshape"(%vc, %c4) {} opset 23 node "vr"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %v = onnx.node "Transpose"(%vr) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "v"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %none = onnx.none
  %o:2 = onnx.node "Attention"(%q, %k, %v, %none, %none) {causal = 1 : i64, scale = 5.000000e-01 : f32} domain "zero" opset 1
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3xf32>)
  %yt = onnx.node "Transpose"(%o#0) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "yt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %c7 = arith.constant dense<[2, 3, 16]> : tensor<3xi64>
  %y = onnx.node "Reshape"(%yt, %c7) {} opset 23 node "y"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %dor = onnx.node "Reshape"(%dy, %c4) {} opset 23 node "dor"
      : (tensor<2x3x16xf32>, tensor<4xi64>) -> tensor<2x3x4x4xf32>
  %do = onnx.node "Transpose"(%dor) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "do"
      : (tensor<2x3x4x4xf32>) -> tensor<2x4x3x4xf32>
  %g:3 = onnx.node "AttentionGrad"(%do, %q, %k, %v, %o#0, %o#1, %none, %none) {causal = 1 : i64, scale = 5.000000e-01 : f32} domain "zero" opset 1
      : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3xf32>, none, none) -> (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>)
  %dqt = onnx.node "Transpose"(%g#0) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dqt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %dq = onnx.node "Reshape"(%dqt, %c7) {} opset 23 node "dq"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %dkt = onnx.node "Transpose"(%g#1) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dkt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %dk = onnx.node "Reshape"(%dkt, %c7) {} opset 23 node "dk"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  %dvt = onnx.node "Transpose"(%g#2) {perm = array<i64: 0, 2, 1, 3>} opset 23 node "dvt"
      : (tensor<2x4x3x4xf32>) -> tensor<2x3x4x4xf32>
  %dv = onnx.node "Reshape"(%dvt, %c7) {} opset 23 node "dv"
      : (tensor<2x3x4x4xf32>, tensor<3xi64>) -> tensor<2x3x16xf32>
  return %y, %dq, %dk, %dv : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>
}
