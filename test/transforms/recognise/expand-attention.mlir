// RUN: zero-opt %s --zero-expand-attention | FileCheck %s
// RUN: zero-opt %s --zero-expand-attention=widest=7 | FileCheck %s
// RUN: zero-opt %s --zero-expand-attention=widest=8 | FileCheck %s --check-prefix=NARROW

// A device that has a kernel for heads of this width keeps all of it.
// NARROW-LABEL: func.func @packed
// NARROW: "Attention"
// NARROW-NOT: "MaskedSoftmax"
// NARROW-LABEL: func.func @gradient
// NARROW: "AttentionGrad"

// Queries, keys and values are parts of one packed row. The masks are those of the softmax.
// CHECK-LABEL: func.func @packed
// CHECK: "Contract"{{.*}}transB = 1
// CHECK: "MaskedSoftmax"({{.*}}causal = 1{{.*}}scale = 2.5
// CHECK-NOT: rows_first
// CHECK-NOT: "Attention"
// CHECK: "Contract"
// CHECK: "Transpose"
// CHECK: return
func.func @packed(%x: tensor<2x8x48xf32>) -> tensor<2x8x2x8xf32> {
  %none = onnx.none
  %o, %lse = onnx.node "Attention"(%x, %none, %none, %none, %none)
      {causal = 1 : i64, fill = 0xFFF0000000000000 : f64, guard = 0 : i64, offset = 0 : i64,
       packed_heads = array<i64: 2, 2>, rows_first = array<i64: 1, 1, 1, 1>, scale = 2.500000e-01 : f64}
      domain "zero" opset 1
      : (tensor<2x8x48xf32>, none, none, none, none) -> (tensor<2x8x2x8xf32>, tensor<2x2x8xf32>)
  return %o : tensor<2x8x2x8xf32>
}

// The weights are computed again, and the gradients of keys and values summed over the heads of a
// group. Queries are stored with rows first, and so is their gradient.
// CHECK-LABEL: func.func @gradient
// CHECK: %[[W:.*]] = onnx.node "MaskedSoftmax"({{.*}}causal = 1{{.*}}scale = 5.0
// CHECK: %[[DS:.*]] = onnx.node "MaskedSoftmaxGrad"({{.*}}, %[[W]]) {scale = 5.000000e-01
// CHECK: onnx.node "Contract"({{.*}}transA = 1 : i64{{.*}} -> tensor<2x2x8x8xf32>
// CHECK: onnx.node "Contract"({{.*}}transA = 1 : i64{{.*}} -> tensor<2x2x8x8xf32>
// CHECK-NOT: "AttentionGrad"
// CHECK: return
func.func @gradient(%dy: tensor<2x4x8x8xf32>, %q: tensor<2x8x4x8xf32>, %k: tensor<2x2x8x8xf32>,
                    %v: tensor<2x2x8x8xf32>)
    -> (tensor<2x8x4x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>) {
  %none = onnx.none
  %o, %lse = onnx.node "Attention"(%q, %k, %v, %none, %none)
      {causal = 1 : i64, fill = 0xFFF0000000000000 : f64, guard = 0 : i64, offset = 0 : i64,
       rows_first = array<i64: 1, 0, 0, 0>, scale = 5.000000e-01 : f64}
      domain "zero" opset 1
      : (tensor<2x8x4x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>, none, none)
      -> (tensor<2x4x8x8xf32>, tensor<2x4x8xf32>)
  %dq, %dk, %dv = onnx.node "AttentionGrad"(%dy, %q, %k, %v, %o, %lse, %none, %none)
      {causal = 1 : i64, fill = 0xFFF0000000000000 : f64, guard = 0 : i64, offset = 0 : i64,
       rows_first = array<i64: 1, 0, 0, 0>, scale = 5.000000e-01 : f64}
      domain "zero" opset 1
      : (tensor<2x4x8x8xf32>, tensor<2x8x4x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>,
         tensor<2x4x8x8xf32>, tensor<2x4x8xf32>, none, none)
      -> (tensor<2x8x4x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>)
  return %dq, %dk, %dv : tensor<2x8x4x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>
}
