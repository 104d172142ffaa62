// RUN: zero-opt %s --verify-diagnostics --zero-expand-attention=widest=7

func.func @step(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %none = onnx.none
  // expected-error @below {{expected attention in one kernel along 'context', got ContextAttention node 'attention', which is computed as products}}
  %a:2 = onnx.node "ContextAttention"(%q, %q, %q, %none, %none) {causal = 1 : i64, over = "context", ranks = 2 : i64, scale = 0.5 : f32} domain "zero" opset 1 node "attention" : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, none, none) -> (tensor<1x2x4x8xf32>, tensor<1x2x4xf32>)
  return %a#0 : tensor<1x2x4x8xf32>
}
