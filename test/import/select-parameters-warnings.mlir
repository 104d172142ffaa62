// Names of adapters and teachers without an option that says what is frozen.
// RUN: zero-opt %s --split-input-file --zero-select-parameters -o %t 2>&1 | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-select-parameters -o %t 2>&1 | grep -c warning: | grep -x 6
// RUN: zero-opt %s --split-input-file --zero-select-parameters=freeze-all-but=* -o %t 2>&1 | FileCheck %s --check-prefix=SAID --allow-empty
// SAID-NOT: warning

// PEFT: two adapters and a head that is trained in full cause one warning.
// CHECK: warning: 5 parameters look like adapters, such as 'm.q.lora_A.default.weight'; an export does not say what is frozen (requires_grad=False), so all parameters are trained. To train only these, add --freeze-all-but='*.lora_*,*.modules_to_save.*', or list what is trained in --trainable=FILE (docs/guides/weights.md); --freeze-all-but='*' means that all are to be
module {
  zero.state constant @m.q.base_layer.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.q.lora_A.default.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.q.lora_B.default.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.v.base_layer.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.v.lora_A.default.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.v.lora_B.default.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.head.modules_to_save.default.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @m.q.base_layer.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @m.q.lora_A.default.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w2 = zero.read @m.q.lora_B.default.weight : tensor<4xf32>
    %y2 = onnx.node "Mul"(%y1, %w2) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w3 = zero.read @m.v.base_layer.weight : tensor<4xf32>
    %y3 = onnx.node "Mul"(%y2, %w3) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w4 = zero.read @m.v.lora_A.default.weight : tensor<4xf32>
    %y4 = onnx.node "Mul"(%y3, %w4) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w5 = zero.read @m.v.lora_B.default.weight : tensor<4xf32>
    %y5 = onnx.node "Mul"(%y4, %w5) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w6 = zero.read @m.head.modules_to_save.default.weight : tensor<4xf32>
    %y6 = onnx.node "Mul"(%y5, %w6) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y6) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// A word inside a segment. A tensor without a module's name is not trained.
// CHECK: warning: 3 parameters look like adapters, such as 'x.lora_B'{{.*}} --freeze-all-but='*.lora_*,*.*_lora.*,*.adapter_*'
// CHECK: warning: the exporter does not record whether these initializers are parameters
module {
  zero.state constant @lora_A : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @x.lora_B : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @x.to_q_lora.down.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @x.adapter_up.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @x.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @lora_A : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @x.lora_B : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w2 = zero.read @x.to_q_lora.down.weight : tensor<4xf32>
    %y2 = onnx.node "Mul"(%y1, %w2) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w3 = zero.read @x.adapter_up.weight : tensor<4xf32>
    %y3 = onnx.node "Mul"(%y2, %w3) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w4 = zero.read @x.fc.weight : tensor<4xf32>
    %y4 = onnx.node "Mul"(%y3, %w4) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y4) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Copies that no optimizer changes.
// CHECK: warning: 4 parameters look like those of a teacher or of a moving average, such as 'm.teacher.fc.weight'{{.*}} To leave these as they are, add --freeze='m.teacher.*,m.target_network.*,m.ema_decay'
module {
  zero.state constant @m.student.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.teacher.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.teacher.fc.bias : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.target_network.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.ema_decay : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @m.student.fc.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @m.teacher.fc.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w2 = zero.read @m.teacher.fc.bias : tensor<4xf32>
    %y2 = onnx.node "Mul"(%y1, %w2) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w3 = zero.read @m.target_network.fc.weight : tensor<4xf32>
    %y3 = onnx.node "Mul"(%y2, %w3) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w4 = zero.read @m.ema_decay : tensor<4xf32>
    %y4 = onnx.node "Mul"(%y3, %w4) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y4) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// In each layer: one glob for all.
// CHECK: warning: 5 parameters look like those of a teacher{{.*}} --freeze='*.ema.*'
module {
  zero.state constant @m.0.ema.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.1.ema.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.2.ema.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.3.ema.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.4.ema.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @m.0.ema.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @m.1.ema.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w2 = zero.read @m.2.ema.weight : tensor<4xf32>
    %y2 = onnx.node "Mul"(%y1, %w2) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w3 = zero.read @m.3.ema.weight : tensor<4xf32>
    %y3 = onnx.node "Mul"(%y2, %w3) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w4 = zero.read @m.4.ema.weight : tensor<4xf32>
    %y4 = onnx.node "Mul"(%y3, %w4) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w5 = zero.read @m.fc.weight : tensor<4xf32>
    %y5 = onnx.node "Mul"(%y4, %w5) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y5) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Only full words match. Adapters without other parameters cause no warning.
module {
  zero.state constant @schema.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @flora.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.momentum.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.network.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.target.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.swap.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.exploration_a.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.key.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.model.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.reference.bias : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @schema.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @flora.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w2 = zero.read @m.momentum.weight : tensor<4xf32>
    %y2 = onnx.node "Mul"(%y1, %w2) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w3 = zero.read @m.network.weight : tensor<4xf32>
    %y3 = onnx.node "Mul"(%y2, %w3) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w4 = zero.read @m.target.weight : tensor<4xf32>
    %y4 = onnx.node "Mul"(%y3, %w4) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w5 = zero.read @m.swap.weight : tensor<4xf32>
    %y5 = onnx.node "Mul"(%y4, %w5) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w6 = zero.read @m.exploration_a.weight : tensor<4xf32>
    %y6 = onnx.node "Mul"(%y5, %w6) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w7 = zero.read @m.key.weight : tensor<4xf32>
    %y7 = onnx.node "Mul"(%y6, %w7) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w8 = zero.read @m.model.weight : tensor<4xf32>
    %y8 = onnx.node "Mul"(%y7, %w8) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w9 = zero.read @m.reference.bias : tensor<4xf32>
    %y9 = onnx.node "Mul"(%y8, %w9) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y9) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

module {
  zero.state constant @m.lora_A.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.lora_B.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @m.lora_A.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @m.lora_B.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y1) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Another adapter next to PEFT's wrapped layers.
// CHECK: warning: some parameters are of a 'base_layer' that an adapter wraps{{.*}} --freeze-all-but=PATTERN,...
module {
  zero.state constant @m.q.base_layer.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @m.q.novel_thing.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w0 = zero.read @m.q.base_layer.weight : tensor<4xf32>
    %y0 = onnx.node "Mul"(%x, %w0) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %w1 = zero.read @m.q.novel_thing.weight : tensor<4xf32>
    %y1 = onnx.node "Mul"(%y0, %w1) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = onnx.node "ReduceMean"(%y1) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
