// RUN: zero-opt %s --split-input-file --zero-verify-kernels --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{Relu node 'r' is left after the kernels were formed}}
  %0 = onnx.node "Relu"(%x) {} opset 14 node "r" : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @step() {
  return
}
// expected-error @+1 {{kernel @k0 lacks zero.flops}}
func.func private @k0() attributes {zero.kernel}

// -----

func.func @step() {
  return
}
// expected-error @+1 {{kernel @k0 lacks zero.bytes}}
func.func private @k0() attributes {zero.kernel, zero.flops = 1 : i64}

// -----

// This program is complete. A function that is not a kernel needs no attributes.
func.func @step() {
  return
}
func.func private @k0() attributes {zero.kernel, zero.flops = 1 : i64, zero.bytes = 8 : i64}
func.func private @helper()
