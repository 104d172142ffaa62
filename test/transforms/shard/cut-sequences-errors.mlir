// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-cut-sequences=mesh=context=2

module {
  zero.parameter @e : tensor<16x8xf32>
  // expected-error @below {{expected sequences of a multiple of 4 tokens, because each of 2 ranks along 'context' has two of as many equal chunks, got 6 in input 'ids'}}
  func.func @step(%ids: tensor<3x6xi64> {zero.binding = "ids", zero.tokens}) -> tensor<3x6x8xf32> {
    %e = zero.read @e : tensor<16x8xf32>
    %x = onnx.node "Gather"(%e, %ids) {axis = 0 : i64} opset 18 node "embedding" : (tensor<16x8xf32>, tensor<3x6xi64>) -> tensor<3x6x8xf32>
    return %x : tensor<3x6x8xf32>
  }
}

// -----

module {
  zero.parameter @w : tensor<8x8xf32>
  // expected-error @below {{expected an input of tokens, by which the model looks up embeddings, to cut sequences over the axis 'context', got none}}
  func.func @step(%x: tensor<3x4x8xf32> {zero.binding = "x"}) -> tensor<3x4x8xf32> {
    %w = zero.read @w : tensor<8x8xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 node "linear" : (tensor<3x4x8xf32>, tensor<8x8xf32>) -> tensor<3x4x8xf32>
    return %y : tensor<3x4x8xf32>
  }
}

// -----

// A product of tokens by tokens.
module {
  zero.parameter @e : tensor<16x8xf32>
  func.func @step(%ids: tensor<3x4xi64> {zero.binding = "ids", zero.tokens}) -> tensor<3x4x4xf32> {
    %e = zero.read @e : tensor<16x8xf32>
    %x = onnx.node "Gather"(%e, %ids) {axis = 0 : i64} opset 18 node "embedding" : (tensor<16x8xf32>, tensor<3x4xi64>) -> tensor<3x4x8xf32>
    %t = onnx.node "Transpose"(%x) {perm = array<i64: 0, 2, 1>} opset 18 node "turn" : (tensor<3x4x8xf32>) -> tensor<3x8x4xf32>
    // expected-error @below {{got MatMul node 'scores', which combines tokens of 'tensor<3x8x4xf32>'}}
    %s = onnx.node "MatMul"(%x, %t) {} opset 18 node "scores" : (tensor<3x4x8xf32>, tensor<3x8x4xf32>) -> tensor<3x4x4xf32>
    return %s : tensor<3x4x4xf32>
  }
}

// -----

// A mean over the tokens of each sample is not one over the batch.
module {
  zero.parameter @e : tensor<16x8xf32>
  func.func @step(%ids: tensor<3x4xi64> {zero.binding = "ids", zero.tokens}) -> tensor<3x8xf32> {
    %e = zero.read @e : tensor<16x8xf32>
    %x = onnx.node "Gather"(%e, %ids) {axis = 0 : i64} opset 18 node "embedding" : (tensor<16x8xf32>, tensor<3x4xi64>) -> tensor<3x4x8xf32>
    %axes = arith.constant dense<1> : tensor<1xi64>
    // expected-error @below {{got ReduceMean node 'pool', which combines tokens of 'tensor<3x4x8xf32>'}}
    %m = onnx.node "ReduceMean"(%x, %axes) {keepdims = 0 : i64} opset 18 node "pool" : (tensor<3x4x8xf32>, tensor<1xi64>) -> tensor<3x8xf32>
    return %m : tensor<3x8xf32>
  }
}

// -----

module {
  zero.parameter @e : tensor<16x8xf32>
  func.func @step(%ids: tensor<3x4xi64> {zero.binding = "ids", zero.tokens}) -> tensor<3x4x2x4xf32> {
    %e = zero.read @e : tensor<16x8xf32>
    %none = onnx.none
    %x = onnx.node "Gather"(%e, %ids) {axis = 0 : i64} opset 18 node "embedding" : (tensor<16x8xf32>, tensor<3x4xi64>) -> tensor<3x4x8xf32>
    %s = arith.constant dense<[3, 4, 2, 4]> : tensor<4xi64>
    %q = onnx.node "Reshape"(%x, %s) {} opset 18 node "heads" : (tensor<3x4x8xf32>, tensor<4xi64>) -> tensor<3x4x2x4xf32>
    // expected-error @below {{expected plain or causal attention of a sequence to itself along 'context', got Attention node 'attention': it has a prefix and shows keys behind a query}}
    %a:2 = onnx.node "Attention"(%q, %q, %q, %none, %none) {causal = 1 : i64, offset = 1 : i64, prefix = 2 : i64, rows_first = array<i64: 1, 1, 1, 1>, scale = 0.5 : f32, window = 3 : i64} domain "zero" opset 1 node "attention" : (tensor<3x4x2x4xf32>, tensor<3x4x2x4xf32>, tensor<3x4x2x4xf32>, none, none) -> (tensor<3x4x2x4xf32>, tensor<3x2x4xf32>)
    return %a#0 : tensor<3x4x2x4xf32>
  }
}
