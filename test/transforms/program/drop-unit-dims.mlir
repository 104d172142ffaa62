// Nodes compute without dimensions of extent one that Reshapes added.
// RUN: zero-opt %s --zero-drop-unit-dims | FileCheck %s

// Scores of a mapped function: a selection, exponentials and a sum over the last dimension.
// CHECK-LABEL: func.func @scores
// CHECK: %[[M:.*]] = onnx.node "Reshape"(%arg1, {{.*}} -> tensor<2x4x3x3xi1>
// CHECK: %[[W:.*]] = onnx.node "Where"(%[[M]], %arg0, %{{.*}}) {{.*}} -> tensor<2x4x3x3xf32>
// CHECK: %[[E:.*]] = onnx.node "Exp"(%[[W]])
// CHECK: %[[S:.*]] = onnx.node "ReduceSum"(%[[E]], %{{.*}}) {keepdims = 1 : i64} {{.*}} -> tensor<2x4x3x1xf32>
// CHECK: %[[Y:.*]] = onnx.node "Div"(%[[E]], %[[S]])
// CHECK: onnx.node "Reshape"(%{{.*}}, %{{.*}}) {{.*}} -> tensor<2x4x3x3xf32>
func.func @scores(%x: tensor<2x4x3x3xf32>, %mask: tensor<1x2x4x3x3xi1>)
    -> tensor<2x4x3x3xf32> {
  %c0 = arith.constant dense<[1, 2, 4, 3, 3]> : tensor<5xi64>
  %r = onnx.node "Reshape"(%x, %c0) {} opset 23 node "r"
      : (tensor<2x4x3x3xf32>, tensor<5xi64>) -> tensor<1x2x4x3x3xf32>
  %c1 = arith.constant dense<-1000000000.0> : tensor<f32>
  %m = onnx.node "Where"(%mask, %r, %c1) {} opset 23 node "m"
      : (tensor<1x2x4x3x3xi1>, tensor<1x2x4x3x3xf32>, tensor<f32>) -> tensor<1x2x4x3x3xf32>
  %e = onnx.node "Exp"(%m) {} opset 23 node "e"
      : (tensor<1x2x4x3x3xf32>) -> tensor<1x2x4x3x3xf32>
  %c2 = arith.constant dense<[4]> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%e, %c2) {keepdims = 1 : i64} opset 23 node "s"
      : (tensor<1x2x4x3x3xf32>, tensor<1xi64>) -> tensor<1x2x4x3x1xf32>
  %y = onnx.node "Div"(%e, %s) {} opset 23 node "y"
      : (tensor<1x2x4x3x3xf32>, tensor<1x2x4x3x1xf32>) -> tensor<1x2x4x3x3xf32>
  %c3 = arith.constant dense<[2, 4, 3, 3]> : tensor<4xi64>
  %z = onnx.node "Reshape"(%y, %c3) {} opset 23 node "z"
      : (tensor<1x2x4x3x3xf32>, tensor<4xi64>) -> tensor<2x4x3x3xf32>
  return %z : tensor<2x4x3x3xf32>
}

// A Transpose of five dimensions, of which one is of extent one.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[R:.*]] = onnx.node "Reshape"(%arg0, {{.*}} -> tensor<2x3x4x2xf32>
// CHECK: %[[T:.*]] = onnx.node "Transpose"(%[[R]]) {perm = array<i64: 0, 2, 1, 3>}
// CHECK: onnx.node "Reshape"(%[[T]], {{.*}} -> tensor<2x4x3x1x2xf32>
func.func @transposed(%x: tensor<2x3x8xf32>)
    -> tensor<2x4x3x1x2xf32> {
  %c0 = arith.constant dense<[2, 3, 4, 1, 2]> : tensor<5xi64>
  %r = onnx.node "Reshape"(%x, %c0) {} opset 23 node "r"
      : (tensor<2x3x8xf32>, tensor<5xi64>) -> tensor<2x3x4x1x2xf32>
  %t = onnx.node "Transpose"(%r) {perm = array<i64: 0, 2, 1, 3, 4>} opset 23 node "t"
      : (tensor<2x3x4x1x2xf32>) -> tensor<2x4x3x1x2xf32>
  return %t : tensor<2x4x3x1x2xf32>
}

// A sum of nothing but dimensions of extent one is a view.
// CHECK-LABEL: func.func @nothing_summed
// CHECK: onnx.node "Reshape"(%arg0, {{.*}} -> tensor<4x3xf32>
// CHECK-NOT: "ReduceSum"
func.func @nothing_summed(%x: tensor<1x4x3x1xf32>)
    -> tensor<4x3xf32> {
  %c0 = arith.constant dense<[0, 3]> : tensor<2xi64>
  %s = onnx.node "ReduceSum"(%x, %c0) {keepdims = 0 : i64} opset 23 node "s"
      : (tensor<1x4x3x1xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  return %s : tensor<4x3xf32>
}

// Three dimensions are as good as two.
// CHECK-LABEL: func.func @usual
// CHECK: onnx.node "Exp"({{.*}} -> tensor<4x1x3xf32>
func.func @usual(%x: tensor<4x3xf32>)
    -> tensor<4x1x3xf32> {
  %c0 = arith.constant dense<[4, 1, 3]> : tensor<3xi64>
  %r = onnx.node "Reshape"(%x, %c0) {} opset 23 node "r"
      : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x1x3xf32>
  %e = onnx.node "Exp"(%r) {} opset 23 node "e"
      : (tensor<4x1x3xf32>) -> tensor<4x1x3xf32>
  return %e : tensor<4x1x3xf32>
}

// Trilu depends on positions.
// CHECK-LABEL: func.func @position
// CHECK: onnx.node "Trilu"({{.*}} -> tensor<1x2x2x2x3x3xf32>
func.func @position(%x: tensor<2x2x2x3x3xf32>)
    -> tensor<1x2x2x2x3x3xf32> {
  %c0 = arith.constant dense<[1, 2, 2, 2, 3, 3]> : tensor<6xi64>
  %r = onnx.node "Reshape"(%x, %c0) {} opset 23 node "r"
      : (tensor<2x2x2x3x3xf32>, tensor<6xi64>) -> tensor<1x2x2x2x3x3xf32>
  %t = onnx.node "Trilu"(%r) {upper = 0 : i64} opset 23 node "t"
      : (tensor<1x2x2x2x3x3xf32>) -> tensor<1x2x2x2x3x3xf32>
  return %t : tensor<1x2x2x2x3x3xf32>
}
