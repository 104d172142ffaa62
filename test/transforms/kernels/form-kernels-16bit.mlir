// RUN: zero-opt %s --split-input-file --zero-form-kernels | FileCheck %s

// Values stored in 16 bits are extended once, computed in f32 across nodes, and rounded once. A
// constant is exact in f32.
// CHECK: func.func private @k0_mul(%[[X:.*]]: tensor<4x8xbf16>, %[[B:.*]]: tensor<8xf32>) -> tensor<4x8xbf16>
// CHECK-DAG: arith.constant dense<3.003910e+00> : tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: math.tanh %{{.*}} : f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @step(%x: tensor<4x8xbf16>, %b: tensor<8xf32>) -> tensor<4x8xbf16> {
  %c = arith.constant dense<3.0> : tensor<bf16>
  %d = arith.constant dense<3.00391> : tensor<f32>
  %1 = onnx.node "Add"(%x, %b) {} opset 14 : (tensor<4x8xbf16>, tensor<8xf32>) -> tensor<4x8xbf16>
  %2 = onnx.node "Tanh"(%1) {} opset 13 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %3 = onnx.node "Mul"(%2, %c) {} opset 14 : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4x8xbf16>
  %4 = onnx.node "Mul"(%3, %d) {} opset 14 : (tensor<4x8xbf16>, tensor<f32>) -> tensor<4x8xbf16>
  return %4 : tensor<4x8xbf16>
}

// -----

// A Cast rounds at its position.
// CHECK: func.func private @k0_exp(%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: math.exp
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %1 = onnx.node "Cast"(%x) {to = 10 : i64} opset 13 : (tensor<8xf32>) -> tensor<8xf16>
  %2 = onnx.node "Exp"(%1) {} opset 13 : (tensor<8xf16>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Elements that are only moved are neither extended nor rounded, as are constants that are exact in
// 16 bits.
// CHECK: func.func private @k0_gather(%{{.*}}: tensor<16x4xbf16>, {{.*}} -> (tensor<3x4xbf16>, tensor<2xi64>)
// CHECK-NOT: arith.{{ext|trunc}}f
// CHECK: func.func private @k1_transpose(%{{.*}}: tensor<16x4xbf16>) -> tensor<4x16xbf16>
// CHECK-NOT: arith.{{ext|trunc}}f
// CHECK: func.func private @k2_pad(%{{.*}}: tensor<16x4xbf16>) -> tensor<17x4xbf16>
// CHECK-NOT: arith.{{ext|trunc}}f
// CHECK: func.func private @k3_where({{.*}} -> tensor<16x4xbf16>
// CHECK-NOT: arith.{{ext|trunc}}f
func.func @step(%w: tensor<16x4xbf16>, %ids: tensor<3xi64>, %shown: tensor<16x4xi1>) -> (tensor<3x4xbf16>, tensor<4x16xbf16>, tensor<17x4xbf16>, tensor<16x4xbf16>) {
  %pads = arith.constant dense<[0, 0, 1, 0]> : tensor<4xi64>
  %half = arith.constant dense<0.5> : tensor<f32>
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.node "Gather"(%w, %ids) {axis = 0 : i64} opset 13 : (tensor<16x4xbf16>, tensor<3xi64>) -> tensor<3x4xbf16>
  %1 = onnx.node "Transpose"(%w) {perm = array<i64: 1, 0>} opset 13 : (tensor<16x4xbf16>) -> tensor<4x16xbf16>
  %2 = onnx.node "Pad"(%w, %pads, %half) {} opset 18 : (tensor<16x4xbf16>, tensor<4xi64>, tensor<f32>) -> tensor<17x4xbf16>
  %3 = onnx.node "Where"(%shown, %w, %low) {} opset 16 : (tensor<16x4xi1>, tensor<16x4xbf16>, tensor<f32>) -> tensor<16x4xbf16>
  return %0, %1, %2, %3 : tensor<3x4xbf16>, tensor<4x16xbf16>, tensor<17x4xbf16>, tensor<16x4xbf16>
}

// -----

// A constant that 16 bits would change is not converted: everything inside is f32.
// CHECK: func.func private @k0_where
// CHECK: arith.constant dense<1.000000e-01> : tensor<f32>
// CHECK: arith.extf
// CHECK: arith.select %{{.*}} : f32
// CHECK: arith.truncf
func.func @step(%w: tensor<16x4xbf16>, %shown: tensor<16x4xi1>) -> tensor<16x4xbf16> {
  %tenth = arith.constant dense<0.1> : tensor<f32>
  %0 = onnx.node "Where"(%shown, %w, %tenth) {} opset 16 : (tensor<16x4xi1>, tensor<16x4xbf16>, tensor<f32>) -> tensor<16x4xbf16>
  return %0 : tensor<16x4xbf16>
}

// -----

// One score of each row is extended where it is read. The others are not.
// CHECK: func.func private @k0_crossentropysum(%[[S:.*]]: tensor<8x16xbf16>, %{{.*}}: tensor<8xi64>) -> (tensor<f32>, tensor<2xi64>)
// CHECK: %[[E:.*]] = tensor.extract %[[S]][%{{.*}}] : tensor<8x16xbf16>
// CHECK-NEXT: arith.extf %[[E]] : bf16 to f32
func.func @step(%s: tensor<8x16xbf16>, %l: tensor<8xi64>) -> tensor<f32> {
  %0:3 = onnx.node "CrossEntropySum"(%s, %l) {} domain "zero" opset 1 : (tensor<8x16xbf16>, tensor<8xi64>) -> (tensor<f32>, tensor<f32>, tensor<8xf32>)
  return %0#0 : tensor<f32>
}

// -----

// Rows are summed in f32, one block of columns at a time.
// CHECK: func.func private @k0_gathergrad(%[[D:.*]]: tensor<3x64xf16>, %{{.*}}: tensor<3xi64>) -> tensor<100x64xf16>
// CHECK: scf.for
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<1x100x32xf32>)
// CHECK: scf.for
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @step(%d: tensor<3x64xf16>, %ids: tensor<3xi64>) -> tensor<100x64xf16> {
  %0 = onnx.node "GatherGrad"(%d, %ids) {axis = 0 : i64, shape = array<i64: 100, 64>} domain "zero" opset 1 : (tensor<3x64xf16>, tensor<3xi64>) -> tensor<100x64xf16>
  return %0 : tensor<100x64xf16>
}

// -----

// A mean of a value that the same kernel computed in f32 reads f32, though the program says that it
// reads 16 bits.
// CHECK: func.func private @k0_{{.*}}(%{{.*}}: tensor<4x8xbf16>) -> tensor<f32>
// CHECK: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @step(%x: tensor<4x8xbf16>) -> tensor<f32> {
  %1 = onnx.node "Mul"(%x, %x) {} opset 14 : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %2 = onnx.node "ReduceMean"(%1) {keepdims = 0 : i64} opset 18 : (tensor<4x8xbf16>) -> tensor<f32>
  return %2 : tensor<f32>
}
