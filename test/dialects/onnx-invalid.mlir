// The verifiers of the dialect check only its own structure.
// RUN: zero-opt %s --split-input-file --verify-diagnostics

func.func @no_opset(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'opset'}}
  %y = onnx.node "Relu"(%x) {} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @opset_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'opset' failed to satisfy constraint: 64-bit signless integer attribute}}
  %y = "onnx.node"(%x) {op_type = "Relu", attrs = {}, opset = 18 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attrs_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'attrs' failed to satisfy constraint: dictionary of named attribute values}}
  %y = "onnx.node"(%x) {op_type = "Relu", attrs = [], opset = 18 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @none_type() {
  // expected-error @+1 {{result #0 must be none type, but got 'i64'}}
  %y = "onnx.none"() : () -> i64
  return
}
