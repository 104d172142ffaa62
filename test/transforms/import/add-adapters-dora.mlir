// RUN: zero-opt %s --zero-add-adapters="size=2 scale=4.0 dora" | FileCheck %s
// RUN: zero-opt %s --zero-add-adapters="size=2 scale=4.0 dora dropout=0.25" | FileCheck %s --check-prefix=DROP

// The magnitude is trained. The run gives it the norms of the rows or columns of the matrix.
// CHECK: zero.adapters = {
// CHECK-SAME: left.weight = {magnitude, module = "left", scale = 4.000000e+00 : f64},
// CHECK-SAME: q.weight = {inputs_first, magnitude, module = "q", scale = 4.000000e+00 : f64}}}
// CHECK-DAG: zero.parameter @base_model.model.q.lora_magnitude_vector : tensor<8xf32> {required}
// CHECK-DAG: zero.parameter @base_model.model.left.lora_magnitude_vector : tensor<3xf32> {required}
zero.parameter @"q.weight" : tensor<4x8xf32> {frozen}
zero.parameter @"q.bias" : tensor<8xf32> {frozen}
zero.parameter @"left.weight" : tensor<3x4xbf16> {frozen}

// CHECK: func.func @step(%[[X:.*]]: tensor<2x4xf32>, %[[H:.*]]: tensor<4x5xbf16>)
// DROP: func.func @step(%[[X:.*]]: tensor<2x4xf32>,
func.func @step(%x: tensor<2x4xf32>, %h: tensor<4x5xbf16>) -> (tensor<2x8xf32>, tensor<3x5xbf16>) {
  // What a Gemm adds is no part of the product that is scaled.
  // CHECK-DAG: %[[A:.*]] = zero.read @base_model.model.q.lora_A.weight
  // CHECK-DAG: %[[B:.*]] = zero.read @base_model.model.q.lora_B.weight
  // CHECK-DAG: %[[M:.*]] = zero.read @base_model.model.q.lora_magnitude_vector
  // CHECK-DAG: %[[W:.*]] = zero.read @q.weight
  // CHECK-DAG: %[[C:.*]] = zero.read @q.bias
  // CHECK: %[[Y:.*]] = onnx.node "Gemm"(%[[X]], %[[W]]) {beta = 5.000000e-01 : f32}
  // CHECK: %[[CHANGE:.*]] = onnx.node "MatMul"({{.*}} -> tensor<2x8xf32>
  // The norms are those of columns of the sum, and have no gradient.
  // CHECK: %[[SQUARES:.*]] = onnx.node "ReduceSumSquare"(%[[W]], %{{.*}} -> tensor<8xf32>
  // CHECK: onnx.node "MatMul"(%[[A]], %[[W]]) {{.*}} -> tensor<2x8xf32>
  // CHECK: onnx.node "MatMul"(%[[A]], %{{.*}} -> tensor<2x2xf32>
  // CHECK: %[[OF:.*]] = onnx.node "ReduceSum"({{.*}} -> tensor<8xf32>
  // CHECK: %[[SUM:.*]] = onnx.node "Add"(%[[SQUARES]], %[[OF]])
  // CHECK: %[[ROOT:.*]] = onnx.node "Sqrt"(%[[SUM]])
  // CHECK: %[[NORMS:.*]] = onnx.node "StopGradient"(%[[ROOT]])
  // CHECK: %[[RATIO:.*]] = onnx.node "Div"(%[[M]], %[[NORMS]])
  // CHECK: %[[BIAS:.*]] = onnx.node "Mul"(%[[C]],
  // CHECK: %[[BOTH:.*]] = onnx.node "Add"(%[[Y]], %[[CHANGE]])
  // CHECK: %[[SCALED:.*]] = onnx.node "Mul"(%[[BOTH]], %[[RATIO]])
  // CHECK: %[[Z:.*]] = onnx.node "Add"(%[[SCALED]], %[[BIAS]])
  // With dropout only the product of what is left is scaled: y + m/n (W d + change) - W d.
  // DROP: %[[Y:.*]] = onnx.node "Gemm"(%[[X]], %[[W:.*]]) {beta
  // DROP: %[[D:.*]] = onnx.node "Dropout"(%[[X]]
  // DROP: %[[CHANGE:.*]] = onnx.node "MatMul"({{.*}} -> tensor<2x8xf32>
  // DROP: %[[RATIO:.*]] = onnx.node "Div"
  // DROP: %[[P:.*]] = onnx.node "Gemm"(%[[D]], %[[W]]) {beta
  // DROP: %[[BOTH:.*]] = onnx.node "Add"(%[[P]], %[[CHANGE]])
  // DROP: %[[SCALED:.*]] = onnx.node "Mul"(%[[BOTH]], %[[RATIO]])
  // DROP: %[[REST:.*]] = onnx.node "Sub"(%[[Y]], %[[P]])
  // DROP: onnx.node "Add"(%[[SCALED]], %[[REST]])
  %q = zero.read @"q.weight" : tensor<4x8xf32>
  %c = zero.read @"q.bias" : tensor<8xf32>
  %0 = onnx.node "Gemm"(%x, %q, %c) {beta = 0.5 : f32} opset 18 {zero.adapted_module = "q", zero.adapted_operand = 1 : i64} : (tensor<2x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // A matrix on the left, transposed twice, in 16 bits: norms of rows, of the matrix as it is
  // stored, and a magnitude for each row of the result.
  // CHECK: %[[LEFT:.*]] = zero.read @left.weight
  // CHECK: onnx.node "ReduceSumSquare"(%[[LEFT]], %{{.*}} : (tensor<3x4xbf16>, tensor<1xi64>) -> tensor<3xf32>
  // CHECK: onnx.node "MatMul"(%[[LEFT]], %{{.*}} : (tensor<3x4xbf16>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // CHECK: onnx.node "Reshape"({{.*}} -> tensor<3x1xf32>
  // CHECK: %[[R:.*]] = onnx.node "Cast"({{.*}} -> tensor<3x5xbf16>
  // CHECK: return %[[Z]], %[[R]]
  %w = zero.read @"left.weight" : tensor<3x4xbf16>
  %t = onnx.node "Transpose"(%w) {perm = [1, 0]} opset 18 : (tensor<3x4xbf16>) -> tensor<4x3xbf16>
  %u = onnx.node "Transpose"(%t) {perm = [1, 0]} opset 18 : (tensor<4x3xbf16>) -> tensor<3x4xbf16>
  %1 = onnx.node "MatMul"(%u, %h) {} opset 18 {zero.adapted_module = "left", zero.adapted_operand = 0 : i64} : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xbf16>
  return %0, %1 : tensor<2x8xf32>, tensor<3x5xbf16>
}
