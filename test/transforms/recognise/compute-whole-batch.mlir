// RUN: zero-opt %s --zero-compute-whole-batch="ranks=2 micro-batches=2" --verify-diagnostics --split-input-file | FileCheck %s
// RUN: zero-opt %s --zero-compute-whole-batch="ranks=1 micro-batches=1" --split-input-file | FileCheck %s --check-prefix=ALONE

// One part has nothing to compute of others.
// ALONE-NOT: zero.rank_mean

// A quotient of a sum and a count of the data is linear in the sum; a root is not in a mean.
// CHECK-LABEL: func.func @step
// CHECK: %[[COUNT:.*]] = onnx.node "ReduceSum"(%arg1)
// CHECK: %[[MICRO:.*]] = zero.micro_mean %[[COUNT]] : tensor<f32>
// CHECK: %[[ALL:.*]] = zero.rank_mean %[[MICRO]] : tensor<f32>
// CHECK: %[[QUOTIENT:.*]] = onnx.node "Div"(%{{.*}}, %[[ALL]])
// CHECK: %[[MEAN:.*]] = onnx.node "ReduceMean"
// CHECK: %[[MICRO:.*]] = zero.micro_mean %[[MEAN]] : tensor<f32>
// CHECK: %[[ALL:.*]] = zero.rank_mean %[[MICRO]] : tensor<f32>
// CHECK: %[[WHOLE:.*]] = onnx.node "WholeBatch"(%[[ALL]], %[[MEAN]])
// CHECK: %[[ROOT:.*]] = onnx.node "Sqrt"(%[[WHOLE]])
// CHECK: onnx.node "Add"(%[[QUOTIENT]], %[[ROOT]])
module {
  zero.parameter @w : tensor<4x2xf32>
  func.func @step(%x: tensor<3x4xf32> {zero.binding = "x"}, %m: tensor<3x2xf32> {zero.binding = "m"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    %n = onnx.node "ReduceSum"(%m) {keepdims = 0 : i64} opset 18 : (tensor<3x2xf32>) -> tensor<f32>
    %t = onnx.node "Mul"(%y, %m) {} opset 18 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %s = onnx.node "ReduceSum"(%t) {keepdims = 0 : i64} opset 18 : (tensor<3x2xf32>) -> tensor<f32>
    %q = onnx.node "Div"(%s, %n) {} opset 18 node "quotient" : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %z = onnx.node "ReduceMean"(%y) {keepdims = 0 : i64} opset 18 : (tensor<3x2xf32>) -> tensor<f32>
    %r = onnx.node "Sqrt"(%z) {} opset 18 node "root" : (tensor<f32>) -> tensor<f32>
    %l = onnx.node "Add"(%q, %r) {} opset 18 node "sum" : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A function of a quotient: its sums are averaged, in one pass. The maximum of a count and one
// needs the sum over the batch, here of four parts.
// CHECK-LABEL: func.func @step
// CHECK: %[[ALL:.*]] = zero.rank_mean
// CHECK: %[[SHARE:.*]] = zero.rank_share
// CHECK: %[[COUNT:.*]] = onnx.node "Div"(%[[ALL]], %[[SHARE]])
// CHECK: %[[MOST:.*]] = onnx.node "Max"(%[[COUNT]],
// CHECK: %[[WHOLE:.*]] = onnx.node "WholeBatch"
// CHECK: %[[QUOTIENT:.*]] = onnx.node "Div"(%[[WHOLE]], %[[MOST]])
// CHECK: %[[SHARE:.*]] = zero.rank_share
// CHECK: %[[SUM:.*]] = onnx.node "Div"(%[[QUOTIENT]], %[[SHARE]])
// CHECK: onnx.node "Exp"(%[[SUM]])
module {
  zero.parameter @w : tensor<4xf32>
  func.func @step(%x: tensor<3x4xf32> {zero.binding = "x"}, %m: tensor<3xf32> {zero.binding = "m"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4xf32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %n = onnx.node "ReduceSum"(%m) {keepdims = 0 : i64} opset 18 : (tensor<3xf32>) -> tensor<f32>
    %c = onnx.node "Max"(%n, %one) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = onnx.node "ReduceSum"(%y) {keepdims = 0 : i64} opset 18 : (tensor<3xf32>) -> tensor<f32>
    %q = onnx.node "Div"(%s, %c) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %l = onnx.node "Exp"(%q) {} opset 18 : (tensor<f32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A variance over the batch: each row uses the mean. Each part computes its own.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.rank_mean
module {
  zero.parameter @w : tensor<4xf32>
  func.func @step(%x: tensor<3x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %m = onnx.node "ReduceMean"(%y) {keepdims = 0 : i64} opset 18 : (tensor<3xf32>) -> tensor<f32>
    // expected-warning @+1 {{Sub node 'center' combines a mean over the batch that each row uses: the loss is the mean of what each rank and micro-batch computes of its own rows, as in DDP, not that of one large batch; --loss-mean=local accepts this}}
    %d = onnx.node "Sub"(%y, %m) {} opset 18 node "center" : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %s = onnx.node "Mul"(%d, %d) {} opset 18 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %l = onnx.node "ReduceMean"(%s) {keepdims = 0 : i64} opset 18 : (tensor<3xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// Scores of rows with each other, and the largest row. The parts of a Concat of rows follow each
// other, those of a Slice do not.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.rank_mean
module {
  zero.parameter @w : tensor<4x2xf32>
  func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %zero = arith.constant dense<0> : tensor<1xi64>
    %two = arith.constant dense<2> : tensor<1xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %z = onnx.node "Concat"(%y, %y) {axis = 0 : i64} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %t = onnx.node "Transpose"(%z) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x2xf32>) -> tensor<2x8xf32>
    // expected-warning @+1 {{MatMul node 'scores' combines rows of the batch with each other}}
    %p = onnx.node "MatMul"(%z, %t) {} opset 18 node "scores" : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    %a = onnx.node "ReduceMean"(%p) {keepdims = 0 : i64} opset 18 : (tensor<8x8xf32>) -> tensor<f32>
    // expected-warning @+1 {{ReduceMax node 'most' combines rows}}
    %b = onnx.node "ReduceMax"(%z) {keepdims = 0 : i64} opset 18 node "most" : (tensor<8x2xf32>) -> tensor<f32>
    // expected-warning @+1 {{Slice node 'half' combines rows}}
    %h = onnx.node "Slice"(%y, %zero, %two, %zero) {} opset 18 node "half" : (tensor<4x2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
    %c = onnx.node "ReduceMean"(%h) {keepdims = 0 : i64} opset 18 : (tensor<2x2xf32>) -> tensor<f32>
    %d = onnx.node "Add"(%a, %b) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %l = onnx.node "Add"(%c, %d) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A sum over the batch becomes the sum over all parts.
// CHECK-LABEL: func.func @step
// CHECK: %[[OWN:.*]] = onnx.node "ReduceSum"
// CHECK: %[[SHARE:.*]] = zero.rank_share
// CHECK: %[[SUM:.*]] = onnx.node "Div"(%[[OWN]], %[[SHARE]])
// CHECK: return %[[SUM]]
module {
  zero.parameter @w : tensor<4xf32>
  func.func @step(%x: tensor<3x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %l = onnx.node "ReduceSum"(%y) {keepdims = 0 : i64} opset 18 : (tensor<3xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A program of the whole batch that was divided already.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.rank_mean
module {
  zero.parameter @w : tensor<4xf32>
  func.func @step(%x: tensor<3x4xf32> {zero.binding = "x", zero.split}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
    %l = onnx.node "ReduceSum"(%y) {keepdims = 0 : i64} opset 18 : (tensor<3xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// Labels, moved by one for a decoder: an assignment to the same positions of each row. Each part
// keeps its own.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.rank_mean
// CHECK: return
module {
  zero.parameter @w : tensor<9x4xf32>
  func.func @step(%ids: tensor<2x3xi64> {zero.binding = "ids"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<9x4xf32>
    %zeros = arith.constant dense<0> : tensor<3x2xi64>
    %at = arith.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %begin = arith.constant dense<0> : tensor<1xi64>
    %end = arith.constant dense<2> : tensor<1xi64>
    %axis = arith.constant dense<1> : tensor<1xi64>
    %first = onnx.node "Slice"(%ids, %begin, %end, %axis) {} opset 18 : (tensor<2x3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xi64>
    %t = onnx.node "Transpose"(%first) {perm = [1, 0]} opset 18 : (tensor<2x2xi64>) -> tensor<2x2xi64>
    %s = onnx.node "ScatterND"(%zeros, %at, %t) {} opset 18 node "shift" : (tensor<3x2xi64>, tensor<2x1xi64>, tensor<2x2xi64>) -> tensor<3x2xi64>
    %moved = onnx.node "Transpose"(%s) {perm = [1, 0]} opset 18 : (tensor<3x2xi64>) -> tensor<2x3xi64>
    %e = onnx.node "Gather"(%w, %moved) {} opset 18 : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    %l = onnx.node "ReduceMean"(%e) {keepdims = 0 : i64} opset 18 : (tensor<2x3x4xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}
