// RUN: zero-opt %s --zero-expand-nodes --verify-diagnostics

func.func @reduction(%s: tensor<6x5xf32>, %l: tensor<6xi64>) -> tensor<f32> {
  // expected-error @+1 {{expected reduction = 'none', 'sum' or 'mean' in SoftmaxCrossEntropyLoss node 'loss', got 'avg'}}
  %y = onnx.node "SoftmaxCrossEntropyLoss"(%s, %l) {reduction = "avg"} opset 18 node "loss" : (tensor<6x5xf32>, tensor<6xi64>) -> tensor<f32>
  return %y : tensor<f32>
}
