// RUN: zero-opt %s --zero-add-adapters="size=2 scale=4.0" | FileCheck %s
// RUN: zero-opt %s --zero-add-adapters="size=2 dropout=0.25 gaussian" | FileCheck %s --check-prefix=MORE

// Which parameters are adapted, and how they are stored.
// CHECK: module attributes {zero.adapters = {
// CHECK-SAME: g.weight = {module = "g", scale = 4.000000e+00 : f64},
// CHECK-SAME: left.weight = {module = "left", scale = 4.000000e+00 : f64},
// CHECK-SAME: q.weight = {inputs_first, module = "q", scale = 4.000000e+00 : f64}}}
// A of [size, inputs] is drawn between the square root of 1 / inputs and its negative; B is 0.
// CHECK-DAG: zero.parameter @base_model.model.q.lora_A.weight : tensor<2x4xf32> {random = #zero.random<uniform, -5.000000e-01 : f64, 5.000000e-01 : f64, {{[0-9]+}}>}
// CHECK-DAG: zero.parameter @base_model.model.q.lora_B.weight : tensor<8x2xf32> {splat = 0.000000e+00 : f64}
// CHECK-DAG: zero.parameter @base_model.model.left.lora_A.weight : tensor<2x2xf32>
// CHECK-DAG: zero.parameter @base_model.model.left.lora_B.weight : tensor<3x2xf32>
// CHECK-DAG: zero.parameter @base_model.model.g.lora_A.weight : tensor<2x2xf32>
// CHECK-DAG: zero.parameter @base_model.model.g.lora_B.weight : tensor<4x2xf32>
// MORE-DAG: zero.parameter @base_model.model.q.lora_A.weight : tensor<2x4xf32> {random = #zero.random<normal, 0.000000e+00 : f64, 5.000000e-01 : f64, {{[0-9]+}}>}
zero.parameter @"q.weight" : tensor<4x8xf32> {frozen}
zero.parameter @"g.weight" : tensor<4x2xbf16> {frozen}
zero.parameter @"left.weight" : tensor<3x2xf32> {frozen}

// CHECK: func.func @step(%[[X:.*]]: tensor<2x4xf32>, %[[H:.*]]: tensor<2x3xbf16>)
// MORE: func.func @step(%[[X:.*]]: tensor<2x4xf32>,
func.func @step(%x: tensor<2x4xf32>, %h: tensor<2x3xbf16>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<3x4xf32>, tensor<3x4xbf16>) {
  // CHECK-DAG: %[[A:.*]] = zero.read @base_model.model.q.lora_A.weight
  // CHECK-DAG: %[[B:.*]] = zero.read @base_model.model.q.lora_B.weight
  // CHECK: %[[Y:.*]] = onnx.node "MatMul"(%[[X]], %{{.*}}) {} opset 18 : (tensor<2x4xf32>, tensor<4x8xf32>)
  // CHECK: %[[TA:.*]] = onnx.node "Transpose"(%[[A]]
  // CHECK: %[[U:.*]] = onnx.node "MatMul"(%[[X]], %[[TA]])
  // CHECK: %[[S:.*]] = arith.constant dense<4.000000e+00>
  // CHECK: %[[V:.*]] = onnx.node "Mul"(%[[U]], %[[S]])
  // CHECK: %[[TB:.*]] = onnx.node "Transpose"(%[[B]]
  // CHECK: %[[C:.*]] = onnx.node "MatMul"(%[[V]], %[[TB]])
  // CHECK: %[[Z:.*]] = onnx.node "Add"(%[[Y]], %[[C]])
  // CHECK-NOT: zero.adapted
  // MORE: %[[D:.*]] = onnx.node "Dropout"(%[[X]], %{{.*}}, %{{.*}})
  // MORE: onnx.node "MatMul"(%[[D]],
  // MORE-NOT: "Mul"
  %q = zero.read @"q.weight" : tensor<4x8xf32>
  %0 = onnx.node "MatMul"(%x, %q) {} opset 18 {zero.adapted_module = "q", zero.adapted_operand = 1 : i64} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  // Another product of the module reads the same matrices.
  // CHECK: "Transpose"(%[[A]]
  %1 = onnx.node "MatMul"(%x, %q) {} opset 18 {zero.adapted_module = "q", zero.adapted_operand = 1 : i64} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  // Of a matrix on the left.
  // CHECK: %[[L:.*]] = onnx.node "MatMul"(%{{.*}}, %[[X]]) {} opset 18 : (tensor<3x2xf32>
  // CHECK: onnx.node "MatMul"(%{{.*}}, %[[X]]) {{.*}} : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: onnx.node "MatMul"({{.*}}) {{.*}} : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  // CHECK: %[[M:.*]] = onnx.node "Add"(%[[L]]
  %w = zero.read @"left.weight" : tensor<3x2xf32>
  %2 = onnx.node "MatMul"(%w, %x) {} opset 18 {zero.adapted_module = "left", zero.adapted_operand = 0 : i64} : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  // Both operands transposed, in 16 bits: the adapter computes in f32.
  // CHECK: %[[G:.*]] = onnx.node "Gemm"
  // CHECK: %[[F:.*]] = onnx.node "Cast"(%[[H]]) {{.*}} -> tensor<2x3xf32>
  // CHECK: "Transpose"(%[[F]]{{.*}} -> tensor<3x2xf32>
  // CHECK: %[[R:.*]] = onnx.node "Cast"({{.*}} -> tensor<3x4xbf16>
  // CHECK: %[[K:.*]] = onnx.node "Add"(%[[G]], %[[R]])
  %g = zero.read @"g.weight" : tensor<4x2xbf16>
  %3 = onnx.node "Gemm"(%h, %g) {transA = 1 : i64, transB = 1 : i64} opset 18 {zero.adapted_module = "g", zero.adapted_operand = 1 : i64} : (tensor<2x3xbf16>, tensor<4x2xbf16>) -> tensor<3x4xbf16>
  // CHECK: return %[[Z]], %{{.*}}, %[[M]], %[[K]]
  return %0, %1, %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<3x4xf32>, tensor<3x4xbf16>
}
