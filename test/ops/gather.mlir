// RUN: zero-opt %s --zero-lower-onnx --split-input-file | FileCheck %s

// Indices from the user are checked at run time and clamped, so that nothing outside is read. The
// message names the node and the input, also through views.

// CHECK-LABEL: func.func @embedding
// CHECK: linalg.generic
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract
// CHECK: zero.check %{{.+}} in[-512, 511] "Gather node 'embed': an index in input 'input_ids' lies outside [-512, 511]"
func.func @embedding(%w: tensor<512x64xf32>, %ids: tensor<128xi64> {zero.binding = "input_ids"}) -> tensor<4x32x64xf32> {
  %shape = arith.constant dense<[4, 32]> : tensor<2xi64>
  %i = onnx.node "Reshape"(%ids, %shape) {} opset 18 : (tensor<128xi64>, tensor<2xi64>) -> tensor<4x32xi64>
  %y = onnx.node "Gather"(%w, %i) {axis = 0 : i64} opset 18 node "embed" : (tensor<512x64xf32>, tensor<4x32xi64>) -> tensor<4x32x64xf32>
  return %y : tensor<4x32x64xf32>
}

// -----

// Constant indices need no check at run time.

// CHECK-LABEL: func.func @constant
// CHECK-NOT: zero.check
func.func @constant(%w: tensor<4x64xf32>) -> tensor<2x64xf32> {
  %i = arith.constant dense<[3, -4]> : tensor<2xi64>
  %y = onnx.node "Gather"(%w, %i) {axis = 0 : i64} opset 18 : (tensor<4x64xf32>, tensor<2xi64>) -> tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}

// -----

// The gradient adds rows sequentially, so the order is the same in every run.

// CHECK-LABEL: func.func @gradient
// CHECK: %[[ZERO:.+]] = linalg.fill
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[ROW:.+]] = tensor.extract_slice {{.*}} to tensor<64xf32>
// CHECK: tensor.insert_slice
// CHECK-NOT: scf.for
func.func @gradient(%dy: tensor<4x32x64xf32>, %i: tensor<4x32xi64>) -> tensor<512x64xf32> {
  %g = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 512, 64>} domain "zero" opset 1 : (tensor<4x32x64xf32>, tensor<4x32xi64>) -> tensor<512x64xf32>
  return %g : tensor<512x64xf32>
}

// -----

// With `sorted` the rows of a table are independent. The place of each index in a stable order, the
// index at each place and the first place of each row are sums over pairs. A row adds its slices in
// their order, in f32, and rounds once.

// CHECK-LABEL: func.func @sorted
// CHECK-NOT: scf.for
// CHECK-COUNT-3: iterator_types = ["parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (f32)
// CHECK: %[[UPDATE:.+]] = tensor.extract {{.*}} : tensor<128x64xbf16>
// CHECK: %[[WIDE:.+]] = arith.extf %[[UPDATE]]
// CHECK: arith.addf %[[SUM]], %[[WIDE]]
// CHECK: arith.truncf
func.func @sorted(%dy: tensor<4x32x64xbf16>, %i: tensor<4x32xi64>) -> tensor<512x64xbf16> {
  %g = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 512, 64>, sorted} domain "zero" opset 1 : (tensor<4x32x64xbf16>, tensor<4x32xi64>) -> tensor<512x64xbf16>
  return %g : tensor<512x64xbf16>
}
