// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-split-batch="parts=4"

// Statistics of the batch that single samples are normalized by.
func.func @step(%x: tensor<8xf32> {zero.binding = "x", zero.split})
    -> (tensor<f32> {zero.binding = "loss"}) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%x, %axes) {keepdims = 1 : i64} opset 23 node "sum"
      : (tensor<8xf32>, tensor<1xi64>) -> tensor<1xf32> // expected-note@-1 {{this value}}
  // expected-error @+2 {{Sub node 'centre': the batch cannot be divided among 4 ranks: a value of all samples is used for single ones, which ties the ranks together}}
  // expected-note @+1 {{without shardings of its data, the program gives each rank its whole batch}}
  %c = onnx.node "Sub"(%x, %s) {} opset 23 node "centre" : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %l = onnx.node "ReduceSum"(%c, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<8xf32>, tensor<1xi64>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A maximum over the batch is no mean over ranks.
func.func @step(%x: tensor<8xf32> {zero.binding = "x", zero.split})
    -> (tensor<f32> {zero.binding = "loss"}) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  // expected-error @+2 {{ReduceMax node 'max': the batch cannot be divided among 4 ranks: it ties all samples together other than by a sum}}
  // expected-note @+1 {{without shardings}}
  %l = onnx.node "ReduceMax"(%x, %axes) {keepdims = 0 : i64} opset 23 node "max"
      : (tensor<8xf32>, tensor<1xi64>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A loss that is a function of a sum is not the mean of the function of its parts.
func.func @step(%x: tensor<8xf32> {zero.binding = "x", zero.split})
    -> (tensor<f32> {zero.binding = "loss"}) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %s = onnx.node "ReduceSum"(%x, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<8xf32>, tensor<1xi64>) -> tensor<f32>
  // expected-error @+1 {{the loss or a gradient depends on a sum over the batch other than by sums and products with constants, so no mean over ranks gives its value}}
  %l = onnx.node "Sqrt"(%s) {} opset 23 : (tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
