// A tied tensor can be selected by all its names, and its parameter keeps them.
// RUN: zero-opt %s --zero-verify-import --zero-select-parameters=freeze=*.wte.* | FileCheck %s --check-prefix=FROZEN
// RUN: echo model.wte.weight > %t && zero-opt %s --zero-select-parameters=trainable=%t | FileCheck %s --check-prefix=TRAINED
// RUN: zero-opt %s --zero-select-parameters=freeze-all-but=*.wte.* | FileCheck %s --check-prefix=TRAINED
// FROZEN: zero.parameter @model.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
// FROZEN: zero.parameter @model.head.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>, frozen, zero.aliases = ["model.wte.weight", "model.in.weight"]}
// TRAINED: zero.parameter @model.fc.weight : tensor<4xf32> {data = {{.*}}, frozen}
// TRAINED: zero.parameter @model.head.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>, zero.aliases = ["model.wte.weight", "model.in.weight"]}
zero.state constant @model.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @model.head.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>, zero.aliases = ["model.wte.weight", "model.in.weight"]}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @model.fc.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @model.head.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y1) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
