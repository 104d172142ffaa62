// RUN: zero-opt %s --split-input-file --zero-form-kernels | FileCheck %s

// A product adds its bias and then the residual, which is behind a view. The residual is read
// later, so it is not overwritten. The sum of two products is computed in place of the first one.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[^ ]+]]: tensor<2x4x8xf32>, %[[W:[^ ]+]]: tensor<8x8xf32>, %[[B:[^ ]+]]: tensor<8xf32>
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]]
// CHECK: %[[Y:.*]] = zero.launch @[[K0:k0_gemm]](%[[ROWS]], %[[W]], %[[B]], %[[X]]) {zero.name = "proj"} : {{.*}} -> tensor<2x4x8xf32>
// CHECK: %[[P:.*]] = zero.launch @[[K1:k1_contract]](%{{.*}}, %[[W]]) {zero.name = "first"}
// CHECK-NEXT: %[[S:.*]] = zero.launch @[[K2:k2_contract]](%{{.*}}, %[[W]], %[[P]]) {zero.name = "second"}
// CHECK: return %[[S]]
// CHECK: func.func private @[[K0]](
// CHECK-NOT: zero.inplace
// CHECK: func.func private @[[K2]](%{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32> {zero.inplace = 0 : i64})
func.func @step(%x: tensor<2x4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %rows = arith.constant dense<[8, 8]> : tensor<2xi64>
  %whole = arith.constant dense<[2, 4, 8]> : tensor<3xi64>
  %0 = onnx.node "Reshape"(%x, %rows) {} opset 14 : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  %1 = onnx.node "Gemm"(%0, %w, %b) {} opset 13 node "proj" : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = onnx.node "Reshape"(%1, %whole) {} opset 14 : (tensor<8x8xf32>, tensor<3xi64>) -> tensor<2x4x8xf32>
  %3 = onnx.node "Add"(%x, %2) {} opset 14 node "residual" : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %4 = onnx.node "Reshape"(%3, %rows) {} opset 14 : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  %5 = onnx.node "Contract"(%4, %w) {transB = 1 : i64} domain "zero" opset 1 node "first" : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = onnx.node "Contract"(%4, %w) {} domain "zero" opset 1 node "second" : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = onnx.node "Add"(%5, %6) {} opset 14 node "sum" : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

// -----

// Not fused: an addition far below, which would extend the lifetimes of the product's operands; and
// a column, a constant or integers, which the library does not add.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @k0_matmul(%{{.*}}, %{{.*}}) {zero.name = "product"}
// CHECK: zero.launch @{{k[0-9]+}}_add(%{{.*}}, %{{.*}}) {zero.name = "column"}
// CHECK: zero.launch @{{k[0-9]+}}_add(%{{.*}}) {zero.name = "constant"}
// CHECK: zero.launch @{{k[0-9]+}}_add(%{{.*}}, %{{.*}}) {zero.name = "sum"}
// CHECK: %[[S:.*]] = zero.launch @{{k[0-9]+}}_softmax(%{{.*}})
// CHECK: zero.launch @{{k[0-9]+}}_softmax(%[[S]], %{{.*}})
func.func @step(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %c: tensor<4x1xf32>, %i: tensor<4x4xi64>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi64>) {
  %ones = arith.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %0 = onnx.node "MatMul"(%x, %w) {} opset 13 node "product" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.node "MatMul"(%w, %w) {} opset 13 node "b" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.node "Add"(%1, %c) {} opset 14 node "column" : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %3 = onnx.node "MatMul"(%x, %x) {} opset 13 node "c" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = onnx.node "Add"(%3, %ones) {} opset 14 node "constant" : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %5 = onnx.node "MatMul"(%i, %i) {} opset 13 node "integers" : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi64>
  %6 = onnx.node "Add"(%5, %i) {} opset 14 node "sum" : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi64>
  %7 = onnx.node "Exp"(%w) {} opset 13 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = onnx.node "Softmax"(%7) {} opset 13 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = onnx.node "Softmax"(%8) {} opset 13 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = onnx.node "Add"(%0, %9) {} opset 14 node "far" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %10, %2, %4, %6 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi64>
}
