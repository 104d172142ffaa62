// RUN: zero-opt %s --split-input-file --zero-add-into-tables | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-add-into-tables --zero-form-kernels \
// RUN:   | FileCheck %s --check-prefix=KERNEL

// A tied embedding: rows are added to the other gradient, in place.
// CHECK-LABEL: func.func @step
// CHECK: %[[X:.*]] = onnx.node "Exp"
// CHECK-NEXT: %[[G:.*]] = onnx.node "GatherGrad"(%{{.*}}, %{{.*}}, %[[X]])
// CHECK-NEXT: return %[[G]]
// KERNEL: func.func private @k1_gathergrad(%{{.*}}, %{{.*}}, %{{.*}}: tensor<8x4xf32> {zero.inplace = 0 : i64})
func.func @step(%dy: tensor<2x4xf32>, %i: tensor<2xi64>, %w: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %x = onnx.node "Exp"(%w) {} opset 13 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %g = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 8, 4>} domain "zero" opset 1 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %s = onnx.node "Add"(%g, %x) {} opset 14 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// -----

// A value with another reader is not overwritten, nor is one that is computed later.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-2: onnx.node "Add"
// KERNEL-NOT: zero.inplace
func.func @step(%dy: tensor<2x4xf32>, %i: tensor<2xi64>, %w: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %x = onnx.node "Exp"(%w) {} opset 13 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %g = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 8, 4>} domain "zero" opset 1 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %s = onnx.node "Add"(%g, %x) {} opset 14 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %h = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 8, 4>} domain "zero" opset 1 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %y = onnx.node "Softmax"(%w) {} opset 13 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = onnx.node "Add"(%h, %y) {} opset 14 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %s, %t, %x : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
