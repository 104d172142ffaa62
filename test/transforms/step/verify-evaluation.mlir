// RUN: zero-opt %s --zero-verify-evaluation | FileCheck %s

// In an evaluation %mean is the running mean, and %next what %before holds: neither the statistics
// of the batch nor the updated state enter the loss.
zero.state buffer @mean : tensor<3xf32> {splat = 0.0}
zero.buffer accumulator @mean.carried : tensor<3xf32> shards 1
func.func private @carry(%to: tensor<3xf32> {zero.inplace = 0 : i64}, %from: tensor<3xf32>) -> tensor<3xf32> attributes {zero.kernel}
func.func private @loss(%mean: tensor<3xf32>, %before: tensor<3xf32>) -> tensor<f32> attributes {zero.kernel}

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<4x3xf32>, %training: tensor<i1> {zero.binding = "zero.training"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %running = zero.read @mean : tensor<3xf32>
  %before = zero.read @mean.carried : tensor<3xf32>
  %m:2 = onnx.node "BatchMoments"(%x) {} domain "zero" opset 1 : (tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %mean = onnx.node "Where"(%training, %m#0, %running) {} opset 16 : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %next = zero.launch @carry(%before, %m#0) if %training {zero.carries} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = zero.launch @loss(%mean, %next) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
