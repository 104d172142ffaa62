// The dimensions of operands and results that belong together, one letter for each factor; "*" has
// to be whole, "-" is no tensor.
// RUN: zero-opt %s -split-input-file -zero-test-print-factors -verify-diagnostics

func.func @elementwise(%x: tensor<2x3xf32>, %row: tensor<3xf32>, %one: tensor<2x1xf32>) {
  // expected-remark@+1 {{Add: (ij, j) -> (ij)}}
  %a = onnx.node "Add"(%x, %row) {} opset 23 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{Mul: (ij, i*) -> (ij)}}
  %b = onnx.node "Mul"(%a, %one) {} opset 23 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @products(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>, %d: tensor<2x3xf32>) {
  // expected-remark@+1 {{MatMul: (lji, ik) -> (ljk) sum i}}
  %0 = onnx.node "MatMul"(%a, %b) {} opset 23
      : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  // A row is added once to a sum.
  // expected-remark@+1 {{Gemm: (ji, ik, k) -> (jk) sum i + operand 2}}
  %1 = onnx.node "Gemm"(%d, %b, %c) {} opset 23
      : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // expected-remark@+1 {{Einsum: (ijk, kl) -> (il) sum j sum k}}
  %2 = onnx.node "Einsum"(%a, %b) {equation = "bij,jk->bk"} opset 23
      : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @images(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>,
                  %g: tensor<6x1x3x3xf32>, %v: tensor<3xf32>) {
  // expected-remark@+1 {{Conv: (ik**, jk**, j) -> (ij**) sum k + operand 2}}
  %0 = onnx.node "Conv"(%x, %w, %b) {} opset 23
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{Conv: (i***, ****) -> (i***)}}
  %1 = onnx.node "Conv"(%x, %g) {group = 3 : i64} opset 23
      : (tensor<2x3x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x6x6xf32>
  // expected-remark@+1 {{MaxPool: (ij**) -> (ij**)}}
  %2 = onnx.node "MaxPool"(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} opset 22
      : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  // expected-remark@+1 {{BatchNormalization: (ijkl, j, j, j, j) -> (ijkl)}}
  %3 = onnx.node "BatchNormalization"(%x, %v, %v, %v, %v) {} opset 15
      : (tensor<2x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
      -> tensor<2x3x8x8xf32>
  return
}

// -----

func.func @rows(%x: tensor<2x3x4xf32>, %scale: tensor<4xf32>) {
  %last = arith.constant dense<2> : tensor<1xi64>
  // expected-remark@+1 {{Softmax: (i*j) -> (i*j)}}
  %0 = onnx.node "Softmax"(%x) {axis = 1 : i64} opset 23 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-remark@+1 {{LayerNormalization: (ij*, *) -> (ij*)}}
  %1 = onnx.node "LayerNormalization"(%x, %scale) {axis = -1 : i64} opset 23
      : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // expected-remark@+1 {{ReduceSum: (ijk, *) -> (ij) sum k}}
  %2 = onnx.node "ReduceSum"(%x, %last) {keepdims = 0 : i64} opset 23
      : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{ReduceMean: (ijk, *) -> (ij*) mean k}}
  %3 = onnx.node "ReduceMean"(%x, %last) {} opset 23
      : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  // expected-remark@+1 {{ReduceMax: (ij*, *) -> (ij)}}
  %4 = onnx.node "ReduceMax"(%x, %last) {keepdims = 0 : i64} opset 23
      : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{ArgMax: (i*j) -> (ij)}}
  %5 = onnx.node "ArgMax"(%x) {axis = 1 : i64, keepdims = 0 : i64} opset 23
      : (tensor<2x3x4xf32>) -> tensor<2x4xi64>
  return
}

// -----

func.func @losses(%scores: tensor<6x5x7xf32>, %labels: tensor<6x7xi64>, %weights: tensor<5xf32>) {
  // expected-remark@+1 {{CrossEntropySum: (i*j, ij, *) -> (, , ij) sum i sum j}}
  %0:3 = onnx.node "CrossEntropySum"(%scores, %labels, %weights) {} domain "zero" opset 1
      : (tensor<6x5x7xf32>, tensor<6x7xi64>, tensor<5xf32>)
      -> (tensor<f32>, tensor<f32>, tensor<6x7xf32>)
  return
}

// -----

func.func @movement(%x: tensor<4x6xf32>, %i: tensor<3xi64>, %dy: tensor<3x6xf32>) {
  %zero = arith.constant dense<0> : tensor<1xi64>
  %one = arith.constant dense<1> : tensor<1xi64>
  %two = arith.constant dense<2> : tensor<1xi64>
  %end = arith.constant dense<9223372036854775807> : tensor<1xi64>
  %begin = arith.constant dense<-9223372036854775807> : tensor<1xi64>
  %minus = arith.constant dense<-1> : tensor<1xi64>
  %pads = arith.constant dense<[0, 1, 0, 0]> : tensor<4xi64>
  // expected-remark@+1 {{Transpose: (ji) -> (ij)}}
  %0 = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 23 : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // expected-remark@+1 {{Concat: (i*, i*) -> (i*)}}
  %1 = onnx.node "Concat"(%x, %x) {axis = 1 : i64} opset 23
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  // expected-remark@+1 {{Gather: (*i, j) -> (ji)}}
  %2 = onnx.node "Gather"(%x, %i) {axis = 0 : i64} opset 23
      : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<3x6xf32>
  // expected-remark@+1 {{GatherGrad: (ji, j) -> (*i) sum j}}
  %3 = onnx.node "GatherGrad"(%dy, %i) {axis = 0 : i64, shape = array<i64: 4, 6>} domain "zero" opset 1
      : (tensor<3x6xf32>, tensor<3xi64>) -> tensor<4x6xf32>
  // expected-remark@+1 {{Slice: (*i, *, *, *) -> (*i)}}
  %4 = onnx.node "Slice"(%x, %zero, %two, %zero) {} opset 23
      : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x6xf32>
  // Its extent stays, but not its order.
  // expected-remark@+1 {{Slice: (*i, *, *, *, *) -> (*i)}}
  %5 = onnx.node "Slice"(%x, %end, %begin, %zero, %minus) {} opset 23
      : (tensor<4x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x6xf32>
  // expected-remark@+1 {{Pad: (i*, *) -> (i*)}}
  %6 = onnx.node "Pad"(%x, %pads) {} opset 23 : (tensor<4x6xf32>, tensor<4xi64>) -> tensor<4x7xf32>
  // expected-remark@+1 {{Trilu: (**) -> (**)}}
  %7 = onnx.node "Trilu"(%x) {} opset 23 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
