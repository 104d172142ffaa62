// RUN: zero-opt %s --zero-decompose-nodes | FileCheck %s

// Products, scatters and old forms by rules; other operators from their lowerings: loops over elements
// are nodes, a window of zeros a Pad and a Gather, an element at a label a GatherElements. The check of the
// labels is dropped.

// CHECK-NOT: domain "zero"
// CHECK: onnx.node "Gemm"(%arg0, %arg1) {transA = 1 : i64, transB = 0 : i64} opset 21 node "p"
// CHECK: %[[T:.*]] = onnx.node "Transpose"(%arg4) {perm = array<i64: 0, 2, 1>} opset 21 node "q"
// CHECK: onnx.node "MatMul"(%arg4, %[[T]])
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<9x4xf32>
// CHECK: %[[TUPLES:.*]] = onnx.node "Reshape"(%arg2, {{.*}} -> tensor<5x1xi64>
// CHECK: onnx.node "ScatterND"(%[[ZEROS]], %[[TUPLES]], %{{.*}}) {reduction = "add"}
// CHECK: %[[NEG:.*]] = onnx.node "Neg"(%arg0) {{.*}} node "s"
// CHECK: onnx.node "Exp"(%[[NEG]])
// CHECK: %[[AXES:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK: onnx.node "ReduceMean"(%arg0, %[[AXES]]) {keepdims = 0 : i64}
// CHECK: onnx.node "Reshape"(%arg0, %{{.*}}) {allowzero = 1 : i64} {{.*}} node "v"
// CHECK: %[[SIZES:.*]] = arith.constant dense<[1, 3]> : tensor<2xi64>
// CHECK: onnx.node "Split"(%arg0, %[[SIZES]]) {axis = 1 : i64}
// CHECK: %[[PADDED:.*]] = onnx.node "Pad"(%arg0,
// CHECK: %[[AT:.*]] = arith.constant dense<[0, 3, 1, 3, 2]> : tensor<5xi64>
// CHECK: onnx.node "Gather"(%[[PADDED]], %[[AT]]) {axis = 0 : i64}
// CHECK: onnx.node "ReduceMax"(%arg0
// CHECK: onnx.node "GatherElements"(%arg0, %{{.*}}) {axis = 1 : i64} {{.*}} node "l"
// CHECK: onnx.node "ReduceSum"

func.func @step(%a: tensor<3x4xf32> {zero.binding = "a"}, %b: tensor<3x2xf32> {zero.binding = "b"}, %i: tensor<5xi64> {zero.binding = "i"}, %labels: tensor<3xi64> {zero.binding = "labels"}, %q: tensor<2x3x4xf32> {zero.binding = "q"}) -> (tensor<f32> {zero.binding = "loss"}, tensor<4x2xf32> {zero.binding = "p"}, tensor<2x3x3xf32> {zero.binding = "batch"}, tensor<9x4xf32> {zero.binding = "table"}, tensor<3x4xf32> {zero.binding = "swish"}, tensor<3xf32> {zero.binding = "rows"}, tensor<4x3xf32> {zero.binding = "view"}, tensor<3x1xf32> {zero.binding = "part"}, tensor<3x3xf32> {zero.binding = "rest"}, tensor<5x4xf32> {zero.binding = "back"}) {
  %p = onnx.node "Contract"(%a, %b) {transA = 1 : i64, transB = 0 : i64} domain "zero" opset 1 node "p" : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %batch = onnx.node "Contract"(%q, %q) {transA = 0 : i64, transB = 1 : i64} domain "zero" opset 1 node "q" : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
  %dy = onnx.node "Gather"(%a, %i) {axis = 0 : i64} opset 13 node "g" : (tensor<3x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  %table = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 9, 4>} domain "zero" opset 1 node "g" : (tensor<5x4xf32>, tensor<5xi64>) -> tensor<9x4xf32>
  %swish = onnx.node "SwishGrad"(%a, %a) {alpha = 1.0 : f32} domain "zero" opset 1 node "s" : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %rows = onnx.node "ReduceMean"(%a) {axes = array<i64: 1>, keepdims = 0 : i64} opset 13 node "r" : (tensor<3x4xf32>) -> tensor<3xf32>
  %view = onnx.node "Flatten"(%a) {axis = 0 : i64} opset 13 node "v" : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %parts:2 = onnx.node "Split"(%a) {axis = 1 : i64} opset 23 node "x" : (tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x3xf32>)
  %back = onnx.node "SliceGrad"(%a) {axes = array<i64: 0>, shape = array<i64: 5, 4>, starts = array<i64: 0>, steps = array<i64: 2>} domain "zero" opset 1 node "b" : (tensor<3x4xf32>) -> tensor<5x4xf32>
  %sums:3 = onnx.node "CrossEntropySum"(%a, %labels) {ignore_index = -1 : i64} domain "zero" opset 1 node "l" : (tensor<3x4xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<f32>, tensor<3xf32>)
  return %sums#0, %p, %batch, %table, %swish, %rows, %view, %parts#0, %parts#1, %back : tensor<f32>, tensor<4x2xf32>, tensor<2x3x3xf32>, tensor<9x4xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<4x3xf32>, tensor<3x1xf32>, tensor<3x3xf32>, tensor<5x4xf32>
}
