// With a limit of scores, products beside the attention measure the largest score of each head, and
// a launch for all ranks follows. Two heads share keys. The step of the matrix of queries,
// keys and values is changed by the factors of its outputs.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=qk-clip=3 matrix-params=qkv" | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=qk-clip=3 matrix-params=qkv micro-batches=2" | FileCheck %s --check-prefix=MICRO
// RUN: not zero-opt %s --zero-build-step="optimizer=muon settings=qk-clip=3 other-params=qkv" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/"Identity"/"Exp"/' %s | not zero-opt --zero-build-step="optimizer=muon settings=qk-clip=3" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/domain "zero"/domain "other"/' %s | not zero-opt --zero-build-step="optimizer=muon settings=qk-clip=3" 2>&1 | FileCheck %s --check-prefix=ABSENT

// OTHER: error: --qk-clip: expected 'qkv', which makes queries or keys, among the matrices, got one that is of --other-params
// NONE: error: --qk-clip: expected queries of attention at node 'attn' that are outputs of one matrix, beside a bias and a rotation; got those of
// ABSENT: error: --qk-clip: expected attention in the model

zero.parameter @qkv : tensor<6x8xf32> {data = #zero.data<"m.onnx", 0, 192>}

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<1x5x6xf32>, %d: tensor<6x8xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @qkv : tensor<6x8xf32>
  %p = onnx.node "MatMul"(%x, %w) {} opset 13 node "p" : (tensor<1x5x6xf32>, tensor<6x8xf32>) -> tensor<1x5x8xf32>
  %i = onnx.node "Identity"(%p) {} opset 13 node "i" : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
  %none = onnx.none
  // CHECK: onnx.node "Attention"
  // CHECK: %[[S:.*]] = onnx.node "MaskedSoftmax"
  // CHECK: onnx.node "Greater"(%[[S]],
  // CHECK: %[[L:.*]] = onnx.node "ReduceMax"({{.*}} -> tensor<2xf32>
  // MICRO: %[[F:.*]] = zero.launch @first_scores({{.*}} zero.schedule = #zero.schedule<{{.*}}first
  // MICRO: %[[M:.*]] = zero.launch @larger_scores(%[[F]], {{.*}} zero.schedule = #zero.schedule<{{.*}}later
  %a:2 = onnx.node "Attention"(%i, %none, %none, %none, %none) {packed_heads = array<i64: 2, 1>, rows_first = array<i64: 1, 1, 1, 1>, scale = 1.0 : f32} domain "zero" opset 1 node "attn" : (tensor<1x5x8xf32>, none, none, none, none) -> (tensor<1x5x2x2xf32>, tensor<1x2x5xf32>)
  %g = zero.gradient @qkv, %d : tensor<6x8xf32> -> tensor<6x8xf32>
  %loss = onnx.node "ReduceSum"(%a#0) {keepdims = 0 : i64} opset 13 node "loss" : (tensor<1x5x2x2xf32>) -> tensor<f32>
  // CHECK: %[[R:.*]] = zero.launch @larger_scores({{.*}} zero.over_ranks
  // CHECK: onnx.node "Sqrt"
  // CHECK: %[[C:.*]] = onnx.node "Concat"({{.*}} -> tensor<8xf32>
  // CHECK: %[[W:.*]] = zero.read @qkv {
  // CHECK: %[[U:.*]] = zero.launch @scaled_step_0(%{{.*}}, %[[W]], %[[C]],
  // CHECK: zero.update @qkv [], %[[U]] by @update
  return %loss : tensor<f32>
}
