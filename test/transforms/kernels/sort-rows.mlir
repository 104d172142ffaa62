// RUN: zero-opt %s --zero-sort-rows | FileCheck %s

// CHECK-LABEL: func.func @table
// CHECK: onnx.node "GatherGrad"(%{{.*}}, %{{.*}}) {axis = 0 : i64, shape = array<i64: 8, 4>, sorted}
func.func @table(%dy: tensor<2x4xf32>, %i: tensor<2xi64>) -> tensor<8x4xf32> {
  %g = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 8, 4>} domain "zero" opset 1 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  return %g : tensor<8x4xf32>
}
