func.func @step(%x: tensor<8xf64> {zero.binding = "x"}) -> (tensor<8xf64> {zero.binding = "y"}) {
  %y = onnx.node "Sin"(%x) {} opset 18 : (tensor<8xf64>) -> tensor<8xf64>
  return %y : tensor<8xf64>
}
