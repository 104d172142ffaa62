// RUN: zero-opt %s --split-input-file --zero-widen-state --zero-widen-floats | FileCheck %s

// What comes from outside of the step and what leaves it is f32; a cast rounds between. The types
// of the program stay, also where floats are widened.

// CHECK: module attributes {zero.own_types}
// CHECK: zero.parameter @w : tensor<4xf32> {required}
// CHECK: zero.state constant @m : tensor<4xf32> {required}
zero.parameter @w : tensor<4xbf16> {required}
zero.state constant @m : tensor<4xf16> {required}

// CHECK: func.func @step(%[[X:.*]]: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"})
func.func @step(%x: tensor<4xbf16> {zero.binding = "x"}) -> (tensor<bf16> {zero.binding = "loss"}) {
  // CHECK: %[[XB:.*]] = onnx.node "Cast"(%[[X]]) {to = 16 : i64} {{.*}} -> tensor<4xbf16>
  // CHECK: %[[R:.*]] = zero.read @w : tensor<4xf32>
  // CHECK: %[[W:.*]] = onnx.node "Cast"(%[[R]]) {to = 16 : i64} {{.*}} -> tensor<4xbf16>
  %w = zero.read @w : tensor<4xbf16>
  // CHECK: %[[Y:.*]] = onnx.node "Mul"(%[[XB]], %[[W]]) {{.*}} -> tensor<4xbf16>
  %y = onnx.node "Mul"(%x, %w) {} opset 23 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  // CHECK: %[[G:.*]] = onnx.node "Cast"(%[[Y]]) {to = 1 : i64}
  // CHECK: zero.gradient @w, %[[G]] : tensor<4xf32> -> tensor<4xf32>
  %g = zero.gradient @w, %y : tensor<4xbf16> -> tensor<4xbf16>
  %h = onnx.node "Cast"(%y) {to = 10 : i64} opset 23 : (tensor<4xbf16>) -> tensor<4xf16>
  // CHECK: %[[H:.*]] = onnx.node "Cast"(%{{.*}}) {to = 1 : i64} {{.*}} (tensor<4xf16>) -> tensor<4xf32>
  // CHECK: zero.write @m, %[[H]] : tensor<4xf32>
  zero.write @m, %h : tensor<4xf16>
  %axes = arith.constant dense<0> : tensor<1xi64>
  %loss = onnx.node "ReduceSum"(%y, %axes) {keepdims = 0 : i64} opset 23 : (tensor<4xbf16>, tensor<1xi64>) -> tensor<bf16>
  // CHECK: %[[LOSS:.*]] = onnx.node "Cast"(%{{.*}}) {to = 1 : i64} {{.*}} -> tensor<f32>
  // CHECK: return %[[LOSS]] : tensor<f32>
  return %loss : tensor<bf16>
}

// -----

// Nothing changes without 16-bit floats.
// CHECK-NOT: own_types
// CHECK: func.func @step(%{{.*}}: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"})
// CHECK-NEXT: return
func.func @step(%x: tensor<f32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  return %x : tensor<f32>
}
