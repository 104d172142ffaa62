// RUN: zero-opt %s --split-input-file --zero-tile-parameters=bytes=100 | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-tile-parameters=bytes=0 | FileCheck %s --check-prefix=WHOLE
// RUN: zero-opt %s --split-input-file --zero-tile-parameters=bytes=100 --remark-format=emitRemark --remarks-filter=tiles -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// WHOLE-NOT: zero.part

// 8 rows of 6 columns: a column takes 32 bytes, so three columns fit. The row that is added to the
// product is divided with it.
// CHECK-LABEL: module
// CHECK: zero.parameter @w.part0 : tensor<8x3xf32> {data = #zero.data<"m", 0, 192>, zero.part_of = #zero.part<of = "w", axis = 1, begin = 0, extent = 6>}
// CHECK: zero.parameter @w.part1 : tensor<8x3xf32> {data = #zero.data<"m", 0, 192>, zero.part_of = #zero.part<of = "w", axis = 1, begin = 3, extent = 6>}
// CHECK-NOT: zero.parameter @w :
// CHECK-DAG: %[[W0:.*]] = zero.read @w.part0
// CHECK-DAG: %[[W1:.*]] = zero.read @w.part1
// CHECK: %[[B:.*]]:2 = onnx.node "Split"(%{{.*}}) {axis = 0 : i64}
// CHECK: %[[Y0:.*]] = onnx.node "Gemm"(%arg0, %[[W0]], %[[B]]#0) {{.*}} -> tensor<2x3xf32>
// CHECK: %[[Y1:.*]] = onnx.node "Gemm"(%arg0, %[[W1]], %[[B]]#1) {{.*}} -> tensor<2x3xf32>
// CHECK: onnx.node "Concat"(%[[Y0]], %[[Y1]]) {axis = 1 : i64} {{.*}} -> tensor<2x6xf32>
// REMARK: parameter 'w' of 192 B in 2 tiles of 96 B, gathered one at a time: above 100 B
module {
  zero.parameter @w : tensor<8x6xf32> {data = #zero.data<"m", 0, 192>}
  zero.parameter @b : tensor<6xf32> {data = #zero.data<"m", 192, 24>}
  func.func @step(%x: tensor<2x8xf32>) -> tensor<2x6xf32> {
    %w = zero.read @w : tensor<8x6xf32>
    %b = zero.read @b : tensor<6xf32>
    %y = onnx.node "Gemm"(%x, %w, %b) {} opset 18 node "fc" : (tensor<2x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
    return %y : tensor<2x6xf32>
  }
}

// -----

// Transposed, as the left operand: tiles are rows of the result.
// CHECK-LABEL: module
// CHECK: %[[Y0:.*]] = onnx.node "Contract"(%{{.*}}, %arg0) {transA = 1 : i64} {{.*}} -> tensor<3x2xf32>
// CHECK: %[[Y1:.*]] = onnx.node "Contract"(%{{.*}}, %arg0) {transA = 1 : i64} {{.*}} -> tensor<3x2xf32>
// CHECK: onnx.node "Concat"(%[[Y0]], %[[Y1]]) {axis = 0 : i64} {{.*}} -> tensor<6x2xf32>
module {
  zero.parameter @w : tensor<8x6xf32>
  func.func @step(%x: tensor<8x2xf32>) -> tensor<6x2xf32> {
    %w = zero.read @w : tensor<8x6xf32>
    %y = onnx.node "Contract"(%w, %x) {transA = 1 : i64} domain "zero" opset 1 node "fc" : (tensor<8x6xf32>, tensor<8x2xf32>) -> tensor<6x2xf32>
    return %y : tensor<6x2xf32>
  }
}

// -----

// A tied table: one division serves the gather and the loss. The name of a part may already exist.
// CHECK-LABEL: module
// CHECK: zero.parameter @e.part0_ : tensor<3x8xf32> {zero.part_of = #zero.part<of = "e", axis = 0, begin = 0
// CHECK: zero.parameter @e.part1 : tensor<3x8xf32>
// CHECK: zero.parameter @e.part2 : tensor<1x8xf32> {zero.part_of = #zero.part<of = "e", axis = 0, begin = 6, extent = 7>}
// CHECK-DAG: %[[E0:.*]] = zero.read @e.part0_
// CHECK-DAG: %[[E1:.*]] = zero.read @e.part1
// CHECK-DAG: %[[E2:.*]] = zero.read @e.part2
// CHECK: %[[R0:.*]] = onnx.node "GatherRows"(%[[E0]], %arg0) {begin = 0 : i64, extent = 7 : i64} domain "zero"
// CHECK: %[[R1:.*]] = onnx.node "GatherRows"(%[[E1]], %arg0, %[[R0]]) {begin = 3 : i64, extent = 7 : i64} domain "zero"
// CHECK: %[[R2:.*]] = onnx.node "GatherRows"(%[[E2]], %arg0, %[[R1]]) {begin = 6 : i64, extent = 7 : i64} domain "zero"
// CHECK-NOT: "Gather"
// CHECK: %[[NOTHING:.*]] = onnx.none
// CHECK: onnx.node "ProjectionLoss"(%[[R2]], %arg1, %[[NOTHING]], %[[E0]], %[[E1]], %[[E2]]) {ignore_index = -100 : i64, transB = 1 : i64} domain "zero"
// CHECK-NOT: "CrossEntropySum"
module {
  zero.parameter @e : tensor<7x8xf32>
  zero.parameter @e.part0 : tensor<2xf32>
  func.func @step(%ids: tensor<5xi64>, %labels: tensor<5xi64>) -> tensor<f32> {
    %e = zero.read @e : tensor<7x8xf32>
    %x = onnx.node "Gather"(%e, %ids) {axis = 0 : i64} opset 18 node "emb" : (tensor<7x8xf32>, tensor<5xi64>) -> tensor<5x8xf32>
    %l = onnx.node "Contract"(%x, %e) {transB = 1 : i64} domain "zero" opset 1 node "head" : (tensor<5x8xf32>, tensor<7x8xf32>) -> tensor<5x7xf32>
    %s:3 = onnx.node "CrossEntropySum"(%l, %labels) {ignore_index = -100 : i64} domain "zero" opset 1 node "loss" : (tensor<5x7xf32>, tensor<5xi64>) -> (tensor<f32>, tensor<f32>, tensor<5xf32>)
    return %s#0 : tensor<f32>
  }
}

// -----

// Another op reads the logits, so they are concatenated.
// CHECK-LABEL: module
// CHECK: onnx.node "Concat"
// CHECK: onnx.node "CrossEntropySum"
module {
  zero.parameter @e : tensor<8x7xf32>
  func.func @step(%x: tensor<5x8xf32>, %labels: tensor<5xi64>) -> (tensor<f32>, tensor<5x7xf32>) {
    %e = zero.read @e : tensor<8x7xf32>
    %l = onnx.node "MatMul"(%x, %e) {} opset 18 node "head" : (tensor<5x8xf32>, tensor<8x7xf32>) -> tensor<5x7xf32>
    %s:3 = onnx.node "CrossEntropySum"(%l, %labels) {} domain "zero" opset 1 node "loss" : (tensor<5x7xf32>, tensor<5xi64>) -> (tensor<f32>, tensor<f32>, tensor<5xf32>)
    return %s#0, %l : tensor<f32>, tensor<5x7xf32>
  }
}

// -----

// REMARK: no parameter is above 100 B: none is tiled
module {
  zero.parameter @w : tensor<5x5xf32>
  func.func @step(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %w = zero.read @w : tensor<5x5xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 node "fc" : (tensor<2x5xf32>, tensor<5x5xf32>) -> tensor<2x5xf32>
    return %y : tensor<2x5xf32>
  }
}

// -----

// A convolution is split by output channels, with its bias.
// CHECK-LABEL: module
// CHECK: zero.parameter @k.part0 : tensor<2x2x3x2xf32>
// CHECK: zero.parameter @k.part1 : tensor<2x2x3x2xf32>
// CHECK: %[[B:.*]]:2 = onnx.node "Split"(%{{.*}}) {axis = 0 : i64}
// CHECK: %[[Y0:.*]] = onnx.node "Conv"(%arg0, %{{.*}}, %[[B]]#0) {{.*}} -> tensor<1x2x4x5xf32>
// CHECK: %[[Y1:.*]] = onnx.node "Conv"(%arg0, %{{.*}}, %[[B]]#1) {{.*}} -> tensor<1x2x4x5xf32>
// CHECK: onnx.node "Concat"(%[[Y0]], %[[Y1]]) {axis = 1 : i64} {{.*}} -> tensor<1x4x4x5xf32>
module {
  zero.parameter @k : tensor<4x2x3x2xf32>
  zero.parameter @b : tensor<4xf32>
  func.func @step(%x: tensor<1x2x6x6xf32>) -> tensor<1x4x4x5xf32> {
    %k = zero.read @k : tensor<4x2x3x2xf32>
    %b = zero.read @b : tensor<4xf32>
    %y = onnx.node "Conv"(%x, %k, %b) {} opset 18 node "conv" : (tensor<1x2x6x6xf32>, tensor<4x2x3x2xf32>, tensor<4xf32>) -> tensor<1x4x4x5xf32>
    return %y : tensor<1x4x4x5xf32>
  }
}
