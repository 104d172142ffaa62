// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-verify-evaluation

// The statistics of the held-out batch.
func.func @step(%x: tensor<4x3xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  // expected-error @+1 {{an evaluation would read the statistics of its own batch}}
  %m:2 = onnx.node "BatchMoments"(%x) {} domain "zero" opset 1 : (tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %loss = onnx.node "ReduceMean"(%m#0) {keepdims = 0 : i64} opset 13 : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Any other condition than that of training.
func.func @step(%x: tensor<4x3xf32>, %running: tensor<3xf32>, %c: tensor<i1>) -> (tensor<f32> {zero.binding = "loss"}) {
  // expected-error @+1 {{an evaluation would read the statistics of its own batch}}
  %m:2 = onnx.node "BatchMoments"(%x) {} domain "zero" opset 1 : (tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %mean = onnx.node "Where"(%c, %m#0, %running) {} opset 16 : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = onnx.node "ReduceMean"(%mean) {keepdims = 0 : i64} opset 13 : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A state that the micro-batch before has updated.
zero.buffer accumulator @mean.carried : tensor<3xf32> shards 1
func.func private @carry(%to: tensor<3xf32> {zero.inplace = 0 : i64}, %from: tensor<3xf32>) -> tensor<3xf32> attributes {zero.kernel}
func.func private @loss(%mean: tensor<3xf32>) -> tensor<f32> attributes {zero.kernel}
func.func @step(%x: tensor<3xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %before = zero.read @mean.carried : tensor<3xf32>
  // expected-error @+1 {{an evaluation would read a state that it has updated itself}}
  %next = zero.launch @carry(%before, %x) {zero.carries} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = zero.launch @loss(%next) : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
