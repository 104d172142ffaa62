// RUN: zero-opt %s --split-input-file --zero-recompute-cheap | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-recompute-cheap --cse --canonicalize | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-recompute-cheap=what=none | FileCheck %s --check-prefix=NONE
// RUN: not zero-opt %s --split-input-file --zero-recompute-cheap=what=all 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: the --what option: expected cheap or none, got 'all'
// NONE-NOT: zero.recompute

// The activation is recomputed where the weight's gradient reads it, also under the shape of
// forward. Its operands are read after that.
// CHECK-LABEL: func.func @step
// CHECK: %[[H:.*]] = onnx.node "Contract"
// CHECK: %[[A:.*]] = onnx.node "Tanh"(%[[H]]) {{.*}} {zero.round}
// CHECK: onnx.node "Reshape"(%[[A]]
// CHECK: onnx.node "ReduceSum"
// CHECK: %[[B:.*]] = onnx.node "Tanh"(%[[H]]) {{.*}} {zero.recompute, zero.round}
// CHECK-NEXT: %[[R:.*]] = onnx.node "Reshape"(%[[B]], {{.*}} {zero.recompute}
// CHECK-NEXT: onnx.node "Contract"(%[[R]]
// CHECK: onnx.node "Mul"(%{{.*}}, %[[H]])
func.func @step(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %dy: tensor<64x64xf32>)
    -> (tensor<f32> {zero.binding = "loss"}, tensor<64x64xf32>, tensor<64x64xf32>) {
  %shape = arith.constant dense<[64, 64]> : tensor<2xi64>
  %0 = onnx.node "Contract"(%x, %w) {} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = onnx.node "Tanh"(%0) {} opset 13 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = onnx.node "Reshape"(%1, %shape) {} opset 14 : (tensor<64x64xf32>, tensor<2xi64>) -> tensor<64x64xf32>
  %3 = onnx.node "Contract"(%2, %w) {} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = onnx.node "ReduceSum"(%3) {keepdims = 0 : i64} opset 13 : (tensor<64x64xf32>) -> tensor<f32>
  %5 = onnx.node "Contract"(%2, %dy) {transA = 1 : i64} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %6 = onnx.node "Mul"(%dy, %0) {} opset 14 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4, %5, %6 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// A chain: the product of gates is recomputed from gates that are recomputed, too. Not recomputed:
// values whose operands would live longer, products, and small values.
// CHECK-LABEL: func.func @step
// CHECK: onnx.node "Contract"(%{{.*}}) {{.*}} node "out"
// CHECK: onnx.node "ReduceSum"
// CHECK-NEXT: %[[S:.*]] = onnx.node "Sigmoid"(%[[G:.*]]) {{.*}} {zero.recompute, zero.round}
// CHECK-NEXT: %[[M:.*]] = onnx.node "Mul"(%[[S]], %[[U:.*]]) {{.*}} {zero.recompute, zero.round}
// CHECK-NEXT: onnx.node "Contract"(%[[M]]
// CHECK-NEXT: onnx.node "Mul"(%{{.*}}, %[[S]])
// CHECK-NEXT: onnx.node "Mul"(%{{.*}}, %[[U]])
// CHECK-NEXT: onnx.node "Mul"(%{{.*}}, %[[G]])
// CHECK-NEXT: onnx.node "Mul"(%{{.*}}, %{{.*}}) {{.*}} node "exp"
// CHECK-NOT: zero.recompute
func.func @step(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %dy: tensor<64x64xf32>)
    -> (tensor<f32> {zero.binding = "loss"}, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %g = onnx.node "Contract"(%x, %w) {} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = onnx.node "Contract"(%w, %x) {} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = onnx.node "Sigmoid"(%g) {} opset 13 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = onnx.node "Mul"(%s, %u) {} opset 14 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %o = onnx.node "Contract"(%m, %w) {} domain "zero" opset 1 node "out" : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = onnx.node "Exp"(%o) {} opset 13 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %l = onnx.node "ReduceSum"(%e) {keepdims = 0 : i64} opset 13 : (tensor<64x64xf32>) -> tensor<f32>
  %0 = onnx.node "Contract"(%m, %dy) {transA = 1 : i64} domain "zero" opset 1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = onnx.node "Mul"(%dy, %s) {} opset 14 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = onnx.node "Mul"(%dy, %u) {} opset 14 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = onnx.node "Mul"(%dy, %g) {} opset 14 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = onnx.node "Mul"(%dy, %e) {} opset 14 node "exp" : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %l, %0, %1, %2, %3, %4 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Clones for one place: the gate is recomputed for the clone that is first there, whichever of its
// readers was cloned first.
// CHECK-LABEL: func.func @step
// CHECK: onnx.node "ReduceSum"
// CHECK-NEXT: %[[H:.*]] = onnx.node "Mul"(%arg0, %arg1) {{.*}} {zero.recompute
// CHECK-DAG: onnx.node "Sigmoid"(%[[H]]) {{.*}} {zero.recompute
// CHECK-DAG: onnx.node "Softplus"(%[[H]]) {{.*}} {zero.recompute
// CHECK: return
func.func @step(%x: tensor<4096xf32>, %w: tensor<1xf32>)
    -> (tensor<f32> {zero.binding = "loss"}, tensor<4096xf32>) {
  %h = onnx.node "Mul"(%x, %w) {} opset 14 : (tensor<4096xf32>, tensor<1xf32>) -> tensor<4096xf32>
  %p = onnx.node "Softplus"(%h) {} opset 14 : (tensor<4096xf32>) -> tensor<4096xf32>
  %s = onnx.node "Sigmoid"(%h) {} opset 13 : (tensor<4096xf32>) -> tensor<4096xf32>
  %m = onnx.node "Mul"(%p, %s) {} opset 14 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %l = onnx.node "ReduceSum"(%m) {keepdims = 0 : i64} opset 13 : (tensor<4096xf32>) -> tensor<f32>
  %0 = onnx.node "Sub"(%p, %s) {} opset 14 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %1 = onnx.node "Mul"(%0, %h) {} opset 14 : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  return %l, %1 : tensor<f32>, tensor<4096xf32>
}
