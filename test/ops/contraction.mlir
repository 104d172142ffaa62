// RUN: zero-opt %s --zero-lower-onnx --split-input-file | FileCheck %s

// One contraction with its transposes in the indexing maps, followed by the bias.

// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$BT:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$C:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK: func.func @gemm(%[[X:.+]]: tensor<32x784xf32>, %[[W:.+]]: tensor<128x784xf32>, %[[B:.+]]: tensor<128xf32>)
// CHECK: %[[ZERO:.+]] = linalg.fill
// CHECK: %[[P:.+]] = linalg.generic {indexing_maps = [#[[$A]], #[[$BT]], #[[$C]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[W]] : {{.*}}) outs(%[[ZERO]]
// CHECK: arith.mulf
// CHECK: arith.addf {{.*}} fastmath<reassoc>
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[B]]
// CHECK-NOT: linalg.generic
func.func @gemm(%x: tensor<32x784xf32>, %w: tensor<128x784xf32>, %b: tensor<128xf32>) -> tensor<32x128xf32> {
  %y = onnx.node "Gemm"(%x, %w, %b) {transB = 1 : i64} opset 18 : (tensor<32x784xf32>, tensor<128x784xf32>, tensor<128xf32>) -> tensor<32x128xf32>
  return %y : tensor<32x128xf32>
}

// -----

// The rows of a batch times one matrix are one large product.

// CHECK-LABEL: func.func @rows
// CHECK: %[[ROWS:.+]] = tensor.collapse_shape %{{.+}} {{\[}}[0, 1], [2]] : tensor<4x32x64xf32> into tensor<128x64xf32>
// CHECK: %[[P:.+]] = linalg.generic {{.*}} ins(%[[ROWS]], %{{.+}} : tensor<128x64xf32>, tensor<64x512xf32>)
// CHECK: tensor.expand_shape %[[P]]
func.func @rows(%x: tensor<4x32x64xf32>, %w: tensor<64x512xf32>) -> tensor<4x32x512xf32> {
  %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<4x32x64xf32>, tensor<64x512xf32>) -> tensor<4x32x512xf32>
  return %y : tensor<4x32x512xf32>
}

// -----

// Batch dimensions of both operands become one dimension. Those of one operand only are not copied.

// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[$B:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func.func @heads
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], {{.*}}outs(%{{.+}} : tensor<16x32x32xf32>)
func.func @heads(%q: tensor<4x4x32x16xf32>, %k: tensor<4x4x32x16xf32>) -> tensor<4x4x32x32xf32> {
  %y = onnx.node "Contract"(%q, %k) {transB = 1 : i64} domain "zero" opset 1 : (tensor<4x4x32x16xf32>, tensor<4x4x32x16xf32>) -> tensor<4x4x32x32xf32>
  return %y : tensor<4x4x32x32xf32>
}
