// RUN: zero-opt %s --zero-set-seed=seed=7 --zero-expand-nodes --verify-diagnostics --split-input-file | FileCheck %s

// The node's seed is the other half. The mask depends on step, part of the batch and training.
// CHECK: module attributes {zero.seed = 7 : i64}
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<i64> {zero.binding = "zero.step"}
// CHECK-SAME: tensor<i64> {zero.binding = "zero.part"}
// CHECK-SAME: tensor<i1> {zero.binding = "zero.training"}
// CHECK: %[[KEY:.*]] = onnx.node "RandomKey"(%{{.*}}) {op = {{[0-9]+}} : i64, seed = 12884901895 : i64}
// CHECK: %[[MASK:.*]] = onnx.node "DropoutMask"(%[[KEY]], %{{.*}}, %{{.*}}) {ratio = 2.500000e-01 : f32}
// CHECK: onnx.node "Where"(%[[MASK]]
func.func @step(%x: tensor<4x8xf32> {zero.binding = "x"}) -> tensor<4x8xf32> {
  %ratio = arith.constant dense<0.25> : tensor<f32>
  %training = arith.constant dense<true> : tensor<i1>
  %y = onnx.node "Dropout"(%x, %ratio, %training) {seed = 3 : i64} opset 13 node "d" : (tensor<4x8xf32>, tensor<f32>, tensor<i1>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// expected-error @+1 {{--seed=7 has no effect: the model draws no random numbers}}
module {
  func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %x : tensor<4x8xf32>
  }
}
