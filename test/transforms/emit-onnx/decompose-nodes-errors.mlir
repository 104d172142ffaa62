// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-decompose-nodes

// One error for each operator.
func.func @step(%x: tensor<2x3xf32> {zero.binding = "x"}) -> (tensor<2x3xf32> {zero.binding = "loss"}) {
  %axis = arith.constant dense<1> : tensor<1xi64>
  // expected-error @below {{CumProd node 'first' has no form in plain ONNX operators: expected a model without it}}
  // expected-note @below {{its lowering needs 'scf.for'}}
  %y = onnx.node "CumProd"(%x, %axis) {exclusive = 1 : i64, reverse = 0 : i64} domain "zero" opset 1 node "first" : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  %z = onnx.node "CumProd"(%y, %axis) {exclusive = 1 : i64, reverse = 0 : i64} domain "zero" opset 1 node "second" : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}
