// RUN: zero-opt %s --zero-form-kernels --zero-annotate-costs --zero-match-library=target-cpu=x86-64-v4 --split-input-file --remark-format=emitRemark --remarks-filter=library 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: zero-opt %s --zero-form-kernels --zero-annotate-costs --zero-match-library=target-cpu=znver4 --split-input-file 2>/dev/null | FileCheck %s --check-prefix=BF16
// RUN: zero-opt %s --zero-form-kernels --zero-annotate-costs --zero-match-library=device=cuda --split-input-file 2>/dev/null | FileCheck %s --check-prefix=GPU

// Parts of one row, causal: strides and offsets give the position of each head. A result that is
// not read is still a result. Of 16 pairs of positions 10 are computed.
// CHECK-LABEL: func.func @step
// CHECK: %[[O:.*]]:2 = zero.launch @k0_attention(%arg0) {{.*}} -> (tensor<2x4x2x8xf32>, tensor<2x2x4xf32>)
// CHECK: return %[[O]]#0
// CHECK: func.func private @k0_attention
// CHECK-SAME: zero.flops = 1280 : i64
// CHECK-SAME: zero.library = #zero.library<#zero.attention<direction = forward, batch = 2, heads = 2, groups = 2, queries = 4, keys = 4, width = 8, value_width = 8, q_strides = [192, 8, 48], k_strides = [192, 8, 48], v_strides = [192, 8, 48], o_strides = [64, 8, 16], packed = true, offsets = [0, 16, 32], scale = 5.000000e-01 : f32, causal = true, causal_offset = 0, fill = 0xFF800000 : f32, guard = true, padding = none, padding_strides = [], mask = none, mask_strides = []>>
// CHECK-SAME: zero.workspace =
func.func @step(%qkv: tensor<2x4x48xf32>) -> tensor<2x4x2x8xf32> {
  %none = onnx.none
  %o:2 = onnx.node "Attention"(%qkv, %none, %none, %none, %none) {causal = 1 : i64, fill = 0xFF800000 : f32, guard = 1 : i64, packed_heads = array<i64: 2, 2>, rows_first = array<i64: 1, 1, 1, 1>, scale = 5.000000e-01 : f32} domain "zero" opset 1 node "n" : (tensor<2x4x48xf32>, none, none, none, none) -> (tensor<2x4x2x8xf32>, tensor<2x2x4xf32>)
  return %o#0 : tensor<2x4x2x8xf32>
}

// -----

// The gradient of grouped heads with a padding of booleans and a mask of numbers, stored in 16
// bits. There are three results, and the sums of rows remain f32.
// CHECK-LABEL: func.func @step
// CHECK: func.func private @k0_attentiongrad({{.*}}) -> (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x5x2x6xbf16>)
// CHECK-SAME: zero.flops = 8640 : i64
// CHECK-SAME: direction = backward
// CHECK-SAME: heads = 4, groups = 2
// CHECK-SAME: k_strides = [80, 40, 8], v_strides = [60, 6, 12], o_strides = [72, 18, 6], offsets = [], scale =
// CHECK-SAME: padding = shown, padding_strides = [5, 1], mask = bias, mask_strides = [0, 15, 5, 1]>
// CHECK-SAME: stored = [bf16, bf16, bf16, bf16, bf16, f32, i1, f32, bf16, bf16, bf16]>
// A processor that multiplies bf16 does so.
// BF16: stored = [bf16, bf16, bf16, bf16, bf16, f32, i1, f32, bf16, bf16, bf16], operands = bf16>
// A GPU does so, too, and needs two floats for each row.
// GPU: func.func private @k0_attentiongrad
// GPU-SAME: direction = backward
// GPU-SAME: operands = bf16>
// GPU-SAME: zero.workspace = 192 : i64
func.func @step(%do: tensor<2x4x3x6xbf16>, %q: tensor<2x4x3x8xbf16>, %k: tensor<2x2x5x8xbf16>, %v: tensor<2x5x2x6xbf16>, %o: tensor<2x4x3x6xbf16>, %lse: tensor<2x4x3xf32>, %padding: tensor<2x5xi1>, %mask: tensor<4x3x5xf32>) -> tensor<2x4x3x8xbf16> {
  %d:3 = onnx.node "AttentionGrad"(%do, %q, %k, %v, %o, %lse, %padding, %mask) {rows_first = array<i64: 0, 0, 1, 0>} domain "zero" opset 1 node "n" : (tensor<2x4x3x6xbf16>, tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x5x2x6xbf16>, tensor<2x4x3x6xbf16>, tensor<2x4x3xf32>, tensor<2x5xi1>, tensor<4x3x5xf32>) -> (tensor<2x4x3x8xbf16>, tensor<2x2x5x8xbf16>, tensor<2x5x2x6xbf16>)
  return %d#0 : tensor<2x4x3x8xbf16>
}

// -----

// Attentions that the library does not support are compiled: another type, and a constant.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.library
// CHECK-NOT: zero.call
// REMARK: Attention node 'wide' is compiled: it computes in other types than f32
// REMARK: Attention node 'constant' is compiled: an operand is a constant of the model
func.func @step(%x: tensor<1x2x3x4xf64>, %y: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf64>, tensor<1x2x3x4xf32>) {
  %a:2 = onnx.node "Attention"(%x, %x, %x) {} domain "zero" opset 1 node "wide" : (tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>) -> (tensor<1x2x3x4xf64>, tensor<1x2x3xf64>)
  %k = arith.constant dense<2.0> : tensor<1x2x3x4xf32>
  %b:2 = onnx.node "Attention"(%y, %k, %v) {} domain "zero" opset 1 node "constant" : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
  return %a#0, %b#0 : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf32>
}

// -----

// Queries that are keys, and documents whose numbers are those of both: a call takes each operand.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @k0_attention(%arg0, %arg0, %arg1, %arg2, %arg2)
// CHECK: func.func private @k0_attention(%arg0: tensor<1x2x3x4xf32>, %arg1: tensor<1x2x3x4xf32>, %arg2: tensor<1x2x3x4xf32>, %arg3: tensor<1x3xi64>, %arg4: tensor<1x3xi64>)
// CHECK-SAME: segments = true>
// CHECK-SAME: stored = [f32, f32, f32, i64, i64, f32, f32]>
// GPU: func.func private @k0_attention({{.*}} segments = true>
func.func @step(%y: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %ids: tensor<1x3xi64>) -> tensor<1x2x3x4xf32> {
  %none = onnx.none
  %b:2 = onnx.node "Attention"(%y, %y, %v, %none, %none, %ids, %ids) {} domain "zero" opset 1 node "twice" : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, none, none, tensor<1x3xi64>, tensor<1x3xi64>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
  return %b#0 : tensor<1x2x3x4xf32>
}
