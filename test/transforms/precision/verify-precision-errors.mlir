// RUN: zero-opt %s --split-input-file --zero-verify-precision --verify-diagnostics

// Without zero.precision nothing is checked.
module {
  zero.parameter @w : tensor<8xf16>
  func.func @step() {
    return
  }
}

// -----

module attributes {zero.precision = bf16} {
  // expected-error @+1 {{parameter 'w': expected 'bf16', got 'f32'}}
  zero.parameter @w : tensor<8xf32>
  func.func @step(%x: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

module attributes {zero.precision = bf16} {
  // expected-error @+1 {{state 'running': expected no 16-bit floats, got 'tensor<8xbf16>'}}
  zero.state buffer @running : tensor<8xbf16>
  func.func @step(%x: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

module attributes {zero.precision = bf16} {
  // expected-error @+1 {{expected a loss of f32, got 'tensor<bf16>'}}
  func.func @step(%x: tensor<bf16>) -> (tensor<bf16> {zero.binding = "loss"}) {
    return %x : tensor<bf16>
  }
}

// -----

module attributes {zero.precision = bf16} {
  func.func @step(%x: tensor<f32>, %y: tensor<4x8xbf16>) -> (tensor<f32> {zero.binding = "loss"}) {
    // expected-error @+1 {{result 0 of ReduceSum node 's': expected f32, which losses, sums and statistics keep, got 'bf16'}}
    %s = onnx.node "ReduceSum"(%y) {keepdims = 0 : i64} opset 13 node "s" : (tensor<4x8xbf16>) -> tensor<bf16>
    return %x : tensor<f32>
  }
}

// -----

module attributes {zero.precision = bf16} {
  func.func @step(%x: tensor<f32>, %y: tensor<4x8xbf16>) -> (tensor<f32> {zero.binding = "loss"}) {
    // expected-error @+1 {{result 0 of Exp node 'e': expected f32 or 'bf16', got 'f16'}}
    %s = onnx.node "Exp"(%y) {} opset 13 node "e" : (tensor<4x8xbf16>) -> tensor<4x8xf16>
    return %x : tensor<f32>
  }
}

// -----

module attributes {zero.frozen_precision = f16} {
  func.func @step(%x: tensor<f32>, %y: tensor<4x8xf16>) -> (tensor<f32> {zero.binding = "loss"}) {
    // expected-error @+1 {{Exp node 'e': expected a result of f32, got 'tensor<4x8xf16>'}}
    %s = onnx.node "Exp"(%y) {} opset 13 node "e" : (tensor<4x8xf16>) -> tensor<4x8xf16>
    return %x : tensor<f32>
  }
}

// -----

module attributes {zero.frozen_precision = f16} {
  // expected-error @+1 {{trained parameter 'w': expected 'f32', got 'f16'}}
  zero.parameter @w : tensor<4xf16> {data = #zero.data<"m.onnx", 0, 8>}
  func.func @step(%x: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
    return %x : tensor<f32>
  }
}
