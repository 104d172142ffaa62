// RUN: zero-opt %s --zero-plan-adapters=targets=all-linear | FileCheck %s

// The word all-linear takes each matrix of products that another product follows: not the output
// layer, whose scores no product reads, and neither a table, tied to that layer or not, nor a
// matrix of products of two modules.
// CHECK-NOT: zero.adapted
// CHECK: "Gather"
// CHECK-NOT: zero.adapted
// CHECK: "MatMul"{{.*}}{zero.adapted_module = "h.0.up", zero.adapted_operand = 1 : i64}
// CHECK: "Relu"
// CHECK: "MatMul"{{.*}}{zero.adapted_module = "h.0.down", zero.adapted_operand = 1 : i64}
// CHECK-NOT: zero.adapted
zero.parameter @wte.weight : tensor<9x4xf32> {frozen}
zero.parameter @h.0.up.weight : tensor<4x8xf32> {frozen}
zero.parameter @h.0.down.weight : tensor<8x4xf32> {frozen}
zero.parameter @h.0.both.weight : tensor<4x4xf32> {frozen, zero.aliases = ["h.1.both.weight"]}
zero.parameter @head.weight : tensor<4x9xf32> {frozen}
func.func @step(%x: tensor<2xi64>) -> tensor<2x9xf32> {
  %table = zero.read @wte.weight : tensor<9x4xf32>
  %0 = onnx.node "Gather"(%table, %x) {axis = 0 : i64} opset 18 : (tensor<9x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %up = zero.read @h.0.up.weight : tensor<4x8xf32>
  %1 = onnx.node "MatMul"(%0, %up) {} opset 18 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %2 = onnx.node "Relu"(%1) {} opset 18 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %down = zero.read @h.0.down.weight : tensor<8x4xf32>
  %3 = onnx.node "MatMul"(%2, %down) {} opset 18 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %both = zero.read @h.0.both.weight : tensor<4x4xf32>
  %4 = onnx.node "MatMul"(%3, %both) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %5 = onnx.node "MatMul"(%4, %both) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %head = zero.read @head.weight : tensor<4x9xf32>
  %6 = onnx.node "MatMul"(%5, %head) {} opset 18 : (tensor<2x4xf32>, tensor<4x9xf32>) -> tensor<2x9xf32>
  return %6 : tensor<2x9xf32>
}
