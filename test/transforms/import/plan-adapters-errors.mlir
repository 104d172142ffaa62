// RUN: zero-opt %s --split-input-file --zero-plan-adapters=targets=q_proj --verify-diagnostics

// The nearest names come first, each once.
// expected-error @below {{lora pattern 'q_proj' matches no parameter that is the matrix of a product}}
// expected-note @below {{the nearest names are k_proj, fc}}
module {
  zero.parameter @"h.0.fc.weight" : tensor<4x4xf32> {frozen}
  zero.parameter @"h.0.k_proj.weight" : tensor<4x4xf32> {frozen}
  zero.parameter @"h.1.k_proj.weight" : tensor<4x4xf32> {frozen}
  zero.parameter @"h.0.q_proj.bias" : tensor<4xf32> {frozen}
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %a = zero.read @"h.0.fc.weight" : tensor<4x4xf32>
    %b = zero.read @"h.0.k_proj.weight" : tensor<4x4xf32>
    %c = zero.read @"h.1.k_proj.weight" : tensor<4x4xf32>
    %d = zero.read @"h.0.q_proj.bias" : tensor<4xf32>
    %0 = onnx.node "MatMul"(%x, %a) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = onnx.node "MatMul"(%0, %b) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %2 = onnx.node "MatMul"(%1, %c) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %3 = onnx.node "Add"(%2, %d) {} opset 18 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    return %3 : tensor<2x4xf32>
  }
}

// -----

// expected-error @below {{lora pattern 'q_proj' matches no parameter that is the matrix of a product}}
// expected-note @below {{the model has no such parameter}}
module {
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    return %x : tensor<2x4xf32>
  }
}

// -----

// expected-error @below {{lora pattern 'q_proj' matches 'q_proj.weight', an embedding: Gather node 'look' looks up its rows; expected matrices of products only}}
module {
  zero.parameter @"q_proj.weight" : tensor<8x4xf32> {frozen}
  func.func @step(%x: tensor<2xi64>) -> tensor<2x4xf32> {
    %a = zero.read @"q_proj.weight" : tensor<8x4xf32>
    %0 = onnx.node "Gather"(%a, %x) {axis = 0 : i64} opset 18 node "look" : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// expected-error @below {{lora pattern 'q_proj' matches 'q_proj.weight', which Mul node 'scale' reads; expected the matrix of a MatMul or Gemm}}
module {
  zero.parameter @"q_proj.weight" : tensor<2x4xf32> {frozen}
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %a = zero.read @"q_proj.weight" : tensor<2x4xf32>
    %0 = onnx.node "Mul"(%x, %a) {} opset 18 node "scale" : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// expected-error @below {{the model already has an adapter of 'q_proj', 'q_proj.lora_A.default.weight': train it without --lora, or export the model without adapters}}
module {
  zero.parameter @"q_proj.base_layer.weight" : tensor<4x4xf32> {frozen}
  zero.parameter @"q_proj.lora_A.default.weight" : tensor<4x2xf32>
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
    %a = zero.read @"q_proj.base_layer.weight" : tensor<4x4xf32>
    %b = zero.read @"q_proj.lora_A.default.weight" : tensor<4x2xf32>
    %0 = onnx.node "MatMul"(%x, %a) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = onnx.node "MatMul"(%0, %b) {} opset 18 : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
}

// -----

// expected-error @below {{lora pattern 'q_proj' matches 'q_proj.weight', which is the matrix of 2 products, and one adapter would be that of several modules}}
module {
  zero.parameter @"q_proj.weight" : tensor<4x4xf32> {frozen, zero.aliases = ["k_proj.weight"]}
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %a = zero.read @"q_proj.weight" : tensor<4x4xf32>
    %0 = onnx.node "MatMul"(%x, %a) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = onnx.node "MatMul"(%0, %a) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}

// -----

// expected-error @below {{--lora: expected a model without an update; this one brings its own backward pass, which knows no adapters}}
module attributes {zero.whole_step} {
  zero.parameter @"q_proj.weight" : tensor<4x4xf32>
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %a = zero.read @"q_proj.weight" : tensor<4x4xf32>
    %0 = onnx.node "MatMul"(%x, %a) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

// -----

// Of a number, the part before it is listed, too.
// expected-error @below {{lora pattern 'q_proj' matches no parameter that is the matrix of a product}}
// expected-note @below {{the nearest names are classifier.1}}
module {
  zero.parameter @"head.classifier.1.weight" : tensor<4x4xf32> {frozen}
  func.func @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %a = zero.read @"head.classifier.1.weight" : tensor<4x4xf32>
    %0 = onnx.node "MatMul"(%x, %a) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}
