// The report on attention before the run: the masks that are read from memory, and the attentions
// that need more than one kernel per direction, with the reasons. A value may be two operands.
// RUN: zeroc %s --plan-only | FileCheck %s

// CHECK: attention at node 'capped' is not a single kernel: it has a softcap
// CHECK: attention at node 'fixed' reads the mask 'mask', tensor<3x3xf32>, from memory: 36 bytes
// CHECK: attention at node 'learned' reads the mask 'bias', tensor<1x2x3x3xf32>, from memory: 72 bytes
// CHECK: attention at node 'learned' is not a single kernel in backward: its mask has a gradient
// CHECK-NOT: alike
// CHECK: ZeRO stage 0
zero.parameter @w : tensor<8x8xf32> {splat = 0.5}
zero.parameter @bias : tensor<1x2x3x3xf32> {splat = 0.5}
func.func @step(%x: tensor<6x8xf32> {zero.binding = "x"}, %mask: tensor<3x3xf32> {zero.binding = "mask"}, %k: tensor<2x2x3x4xf32> {zero.binding = "k"}, %v: tensor<2x2x3x4xf32> {zero.binding = "v"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8x8xf32>
  %bias = zero.read @bias : tensor<1x2x3x3xf32>
  %shape = arith.constant dense<[2, 3, 2, 4]> : tensor<4xi64>
  %y = onnx.node "MatMul"(%x, %w) {} opset 13 node "y" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %h = onnx.node "Reshape"(%y, %shape) {} opset 18 node "h" : (tensor<6x8xf32>, tensor<4xi64>) -> tensor<2x3x2x4xf32>
  %q = onnx.node "Transpose"(%h) {perm = array<i64: 0, 2, 1, 3>} opset 18 node "q" : (tensor<2x3x2x4xf32>) -> tensor<2x2x3x4xf32>
  %a = onnx.node "Attention"(%q, %k, %v, %mask) {} opset 23 node "fixed" : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<3x3xf32>) -> tensor<2x2x3x4xf32>
  %b = onnx.node "Attention"(%a, %k, %v, %bias) {} opset 23 node "learned" : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<1x2x3x3xf32>) -> tensor<2x2x3x4xf32>
  %c = onnx.node "Attention"(%b, %k, %v) {softcap = 2.0 : f32} opset 23 node "capped" : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %d = onnx.node "Attention"(%c, %c, %v) {} opset 23 node "alike" : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %loss = onnx.node "ReduceSum"(%d) {keepdims = 0 : i64} opset 13 node "loss" : (tensor<2x2x3x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
