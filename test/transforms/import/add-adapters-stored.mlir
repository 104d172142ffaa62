// RUN: zero-opt %s --zero-add-adapters | FileCheck %s

// How parameters are stored whose elements are moved before the product. A view keeps their order,
// a transpose of the whole matrix swaps inputs and outputs, and another permutation is not recorded.
// CHECK: zero.adapters = {
// CHECK-SAME: heads.weight = {inputs_first, module = "heads"
// CHECK-SAME: transposed.weight = {module = "transposed"
// CHECK-NOT: {module = "permuted"
// CHECK-NOT: {module = "split"
// CHECK: zero.parameter @base_model.model.permuted.lora_A.weight
zero.parameter @"heads.weight" : tensor<4x2x3xf32> {frozen}
zero.parameter @"transposed.weight" : tensor<6x4xf32> {frozen}
zero.parameter @"permuted.weight" : tensor<2x4x3xf32> {frozen}
zero.parameter @"split.weight" : tensor<3x8xf32> {frozen}

func.func @step(%x: tensor<5x4xf32>, %six: tensor<2xi64>) -> (tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>) {
  %h = zero.read @"heads.weight" : tensor<4x2x3xf32>
  %0 = onnx.node "Reshape"(%h, %six) {} opset 18 : (tensor<4x2x3xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  %1 = onnx.node "MatMul"(%x, %0) {} opset 18 {zero.adapted_module = "heads", zero.adapted_operand = 1 : i64} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %t = zero.read @"transposed.weight" : tensor<6x4xf32>
  %2 = onnx.node "Transpose"(%t) {perm = [1, 0]} opset 18 : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %3 = onnx.node "MatMul"(%x, %2) {} opset 18 {zero.adapted_module = "transposed", zero.adapted_operand = 1 : i64} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %p = zero.read @"permuted.weight" : tensor<2x4x3xf32>
  %4 = onnx.node "Transpose"(%p) {perm = [1, 0, 2]} opset 18 : (tensor<2x4x3xf32>) -> tensor<4x2x3xf32>
  %5 = onnx.node "Reshape"(%4, %six) {} opset 18 : (tensor<4x2x3xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  %6 = onnx.node "MatMul"(%x, %5) {} opset 18 {zero.adapted_module = "permuted", zero.adapted_operand = 1 : i64} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  // The rows that are transposed are not those of the matrix.
  %s = zero.read @"split.weight" : tensor<3x8xf32>
  %7 = onnx.node "Transpose"(%s) {perm = [1, 0]} opset 18 : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %8 = onnx.node "Reshape"(%7, %six) {} opset 18 : (tensor<8x3xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  %9 = onnx.node "MatMul"(%x, %8) {} opset 18 {zero.adapted_module = "split", zero.adapted_operand = 1 : i64} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %1, %3, %6, %9 : tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>
}
