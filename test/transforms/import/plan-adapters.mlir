// RUN: zero-opt %s --split-input-file --zero-plan-adapters=targets=q_proj,h.*.fc,out | FileCheck %s

// A pattern is the end of a module's name, a glob of whole names, or a name. Both forms of a
// product count, also of a transposed matrix, and neither vectors nor other modules do.
// CHECK-NOT: zero.adapted
// CHECK: "MatMul"(%{{.*}}) {} {{.*}}{zero.adapted_module = "h.0.q_proj", zero.adapted_operand = 1 : i64}
// CHECK: "Gemm"(%{{.*}}) {transB = 1 : i64} {{.*}}{zero.adapted_module = "h.0.fc", zero.adapted_operand = 1 : i64}
// CHECK: "MatMul"(%{{.*}}) {} opset 18 :
// A matrix on the left, whose name has no suffix. Both of its products are marked.
// CHECK: "MatMul"{{.*}}{zero.adapted_module = "out", zero.adapted_operand = 0 : i64}
// CHECK: "MatMul"{{.*}}{zero.adapted_module = "out", zero.adapted_operand = 0 : i64}
zero.parameter @"h.0.q_proj.weight" : tensor<8x4xf32> {frozen}
zero.parameter @"h.0.fc.weight" : tensor<4x8xf32> {frozen}
zero.parameter @"h.0.fc.bias" : tensor<4xf32> {frozen}
zero.parameter @"h.0.xq_proj.weight" : tensor<4x4xf32> {frozen}
zero.parameter @out : tensor<3x2xf32> {frozen}
func.func @step(%x: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %q = zero.read @"h.0.q_proj.weight" : tensor<8x4xf32>
  %t = onnx.node "Transpose"(%q) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %0 = onnx.node "MatMul"(%x, %t) {} opset 18 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %fc = zero.read @"h.0.fc.weight" : tensor<4x8xf32>
  %b = zero.read @"h.0.fc.bias" : tensor<4xf32>
  %1 = onnx.node "Gemm"(%0, %fc, %b) {transB = 1 : i64} opset 18 : (tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %o = zero.read @"h.0.xq_proj.weight" : tensor<4x4xf32>
  %2 = onnx.node "MatMul"(%1, %o) {} opset 18 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %w = zero.read @out : tensor<3x2xf32>
  %3 = onnx.node "MatMul"(%w, %2) {} opset 18 : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %4 = onnx.node "MatMul"(%w, %x) {} opset 18 : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %5 = onnx.node "Add"(%3, %4) {} opset 18 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %5 : tensor<3x4xf32>
}
