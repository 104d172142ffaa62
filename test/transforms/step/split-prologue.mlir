// RUN: zero-opt %s --zero-split-prologue | FileCheck %s
// RUN: sed 's/zero.micro_batches = 2/zero.micro_batches = 1/' %s | zero-opt --zero-split-prologue | FileCheck %s --check-prefix=ONE

// The ops that compute the number of labels run in advance; the loss itself does not.
// ONE-NOT: zero.schedule<prologue
module attributes {zero.micro_batches = 2 : i64} {
func.func private @first(%a: tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @later(%a: tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
zero.parameter @w : tensor<f32> {splat = 0.5}

// CHECK-LABEL: func.func @step
func.func @step(%labels: tensor<4xi64>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}) {
  // CHECK: %[[C:.*]] = onnx.node "LabelWeights"(%arg0) {{.*}}zero.schedule = #zero.schedule<prologue>
  // CHECK: %[[OWN:.*]] = zero.micro_mean %[[C]] accumulate [@first, @later] {zero.schedule = #zero.schedule<prologue>}
  // CHECK: %[[ALL:.*]] = zero.rank_mean %[[OWN]] {zero.schedule = #zero.schedule<prologue>}
  // CHECK: %[[W:.*]] = zero.read @w
  %w = zero.read @w : tensor<f32>
  %c = onnx.node "LabelWeights"(%labels) {} domain "zero" opset 1 node "loss" : (tensor<4xi64>) -> tensor<f32>
  %own = zero.micro_mean %c accumulate [@first, @later] : tensor<f32>
  %all = zero.rank_mean %own : tensor<f32>
  // CHECK: %[[LOSS:.*]] = onnx.node "Div"(%[[W]], %[[ALL]])
  %loss = onnx.node "Div"(%w, %all) {} domain "" opset 23 node "mean" : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: %[[LOCAL:.*]] = zero.micro_mean %[[LOSS]] accumulate [@first, @later] : tensor<f32>
  // CHECK: zero.rank_mean %[[LOCAL]] : tensor<f32>
  %local = zero.micro_mean %loss accumulate [@first, @later] : tensor<f32>
  %mean = zero.rank_mean %local : tensor<f32>
  return %mean, %local : tensor<f32>, tensor<f32>
}
}
