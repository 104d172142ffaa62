// Inputs of shape batch x sequence whose values select rows of an embedding are tokens.
// RUN: zero-opt %s --zero-mark-tokens | FileCheck %s
// CHECK: func.func @step(%{{.*}}: tensor<2x4xi64> {zero.binding = "ids", zero.tokens, zero.vocabulary = 9 : i64}, %{{.*}}: tensor<2x4xi64> {zero.binding = "labels"}, %{{.*}}: tensor<8xi64> {zero.binding = "users"}, %{{.*}}: tensor<2x4xi32> {zero.binding = "columns"}, %{{.*}}: tensor<2x4xf32> {zero.binding = "x"})
zero.parameter @table : tensor<9x3xf32> {splat = 0.0}

func.func @step(%ids: tensor<2x4xi64> {zero.binding = "ids"}, %labels: tensor<2x4xi64> {zero.binding = "labels"},
                %users: tensor<8xi64> {zero.binding = "users"}, %columns: tensor<2x4xi32> {zero.binding = "columns"},
                %x: tensor<2x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %t = zero.read @table : tensor<9x3xf32>
  %shape = arith.constant dense<[8]> : tensor<1xi64>
  %flat = onnx.node "Reshape"(%ids, %shape) {} opset 18 : (tensor<2x4xi64>, tensor<1xi64>) -> tensor<8xi64>
  %e = onnx.node "Gather"(%t, %flat) {axis = 0 : i64} opset 18 : (tensor<9x3xf32>, tensor<8xi64>) -> tensor<8x3xf32>
  %u = onnx.node "Gather"(%t, %users) {axis = 0 : i64} opset 18 : (tensor<9x3xf32>, tensor<8xi64>) -> tensor<8x3xf32>
  // These select rows of a value that is not an embedding.
  %c = onnx.node "GatherElements"(%x, %columns) {axis = 1 : i64} opset 18 : (tensor<2x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
  %y = onnx.node "Reshape"(%labels, %shape) {} opset 18 : (tensor<2x4xi64>, tensor<1xi64>) -> tensor<8xi64>
  %s = onnx.node "Add"(%e, %u) {} opset 18 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %m = onnx.node "ReduceMean"(%c) {keepdims = 0 : i64} opset 18 : (tensor<2x4xf32>) -> tensor<f32>
  %l = onnx.node "SoftmaxCrossEntropyLoss"(%s, %y) {} opset 18 : (tensor<8x3xf32>, tensor<8xi64>) -> tensor<f32>
  %loss = onnx.node "Add"(%l, %m) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
