// A file names arguments and results and says what they are: an argument with a target is a tensor
// of the module, and trained if a result is its gradient.
// RUN: zero-opt %s --zero-bind-arguments="roles=%S/Inputs/roles.json" | FileCheck %s
// RUN: zero-opt %s --zero-bind-arguments="roles=%S/Inputs/roles.json forward-only" | FileCheck %s --check-prefix=FORWARD
// RUN: %python -c "print('[' * 100000)" > %t.json
// RUN: not zero-opt %s --zero-bind-arguments="roles=%t.json" 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: --roles: '{{.*}}.json': expected at most 64 levels of nesting

// CHECK-DAG: zero.parameter @fc.weight : tensor<4xf32> {required}
// CHECK-DAG: zero.state constant @fc.scale : tensor<4xf32> {required, zero.exported_as = "buffer"}
// CHECK: func.func @step(%{{.*}}: tensor<4xf32> {zero.binding = "x"})
// CHECK: zero.gradient @fc.weight

// FORWARD: zero.state constant @fc.weight : tensor<4xf32> {required, zero.exported_as = "parameter"}
// FORWARD: func.func @step(%{{.*}}: tensor<4xf32> {zero.binding = "x"})
// FORWARD-SAME: -> (tensor<f32> {zero.binding = "l"}, tensor<4xf32> {zero.binding = "g"})
func.func @joint(%w: tensor<4xf32>, %s: tensor<4xf32>, %x: tensor<4xf32>)
    -> (tensor<f32>, tensor<4xf32>) {
  %axes = arith.constant dense<0> : tensor<1xi64>
  %g = onnx.node "Mul"(%x, %s) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = onnx.node "Mul"(%g, %w) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = onnx.node "ReduceSum"(%p, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<4xf32>, tensor<1xi64>) -> tensor<f32>
  return %l, %g : tensor<f32>, tensor<4xf32>
}
