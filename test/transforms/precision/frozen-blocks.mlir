// RUN: zero-opt %s --zero-set-frozen-precision=precision=nf4 --zero-verify-precision | FileCheck %s
// RUN: zero-opt %s --zero-set-frozen-precision=precision=int8 | FileCheck %s --check-prefix=INT8
// RUN: zero-opt %s --zero-set-precision=precision=bf16 --zero-set-frozen-precision=precision=fp8 | FileCheck %s --check-prefix=ALL

// Matrices that only products read, and sums of squares, get blocks. Not those whose product gives the scores of the
// loss, those that another node reads, small ones, and those of which 64 is no divisor.
// CHECK: module attributes {zero.frozen_precision = bf16}
// CHECK-DAG: @product : tensor<64x64xf32> {blocks = #zero.blocks<4, 64, nf4, @product.scale>, data = #zero.data<"m.onnx", 0, 16384>, frozen}
// CHECK-DAG: @viewed : tensor<64x8x8xf32> {blocks = #zero.blocks<4, 64, nf4, @viewed.scale>
// CHECK-DAG: @head : tensor<64x128xbf16> {data = #zero.data<"m.onnx", 0, 32768, f32>, frozen}
// CHECK-DAG: @added : tensor<64x64xbf16>
// CHECK-DAG: @small : tensor<64x32xbf16>
// CHECK-DAG: @odd : tensor<66x66xbf16>
// CHECK-DAG: @trained : tensor<64x64xf32> {data
// INT8: @product : tensor<64x64xf32> {blocks = #zero.blocks<8, 64, int8, @product.scale>
// With --precision all others have 16 bits already.
// ALL: module attributes {zero.precision = bf16}
// ALL: @product : tensor<64x64xbf16> {blocks = #zero.blocks<8, 64, fp8, @product.scale>
zero.parameter @product : tensor<64x64xf32> {data = #zero.data<"m.onnx", 0, 16384>, frozen}
zero.parameter @viewed : tensor<64x8x8xf32> {data = #zero.data<"m.onnx", 0, 16384>, frozen}
zero.parameter @head : tensor<64x128xf32> {data = #zero.data<"m.onnx", 0, 32768>, frozen}
zero.parameter @added : tensor<64x64xf32> {data = #zero.data<"m.onnx", 0, 16384>, frozen}
zero.parameter @small : tensor<64x32xf32> {data = #zero.data<"m.onnx", 0, 8192>, frozen}
zero.parameter @odd : tensor<66x66xf32> {data = #zero.data<"m.onnx", 0, 17424>, frozen}
zero.parameter @trained : tensor<64x64xf32> {data = #zero.data<"m.onnx", 0, 16384>}
func.func @step(%x: tensor<64x64xf32> {zero.binding = "x"}, %z: tensor<66x66xf32> {zero.binding = "z"}, %labels: tensor<64xi64> {zero.binding = "labels"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %p = zero.read @product : tensor<64x64xf32>
  %v = zero.read @viewed : tensor<64x8x8xf32>
  %h = zero.read @head : tensor<64x128xf32>
  %a = zero.read @added : tensor<64x64xf32>
  %s = zero.read @small : tensor<64x32xf32>
  %o = zero.read @odd : tensor<66x66xf32>
  %t = zero.read @trained : tensor<64x64xf32>
  %shape = arith.constant dense<[64, 64]> : tensor<2xi64>
  %w = onnx.node "Reshape"(%v, %shape) {} opset 18 : (tensor<64x8x8xf32>, tensor<2xi64>) -> tensor<64x64xf32>
  %0 = onnx.node "MatMul"(%x, %p) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %one = arith.constant dense<1> : tensor<1xi64>
  %squares = onnx.node "ReduceSumSquare"(%p, %one) {keepdims = 0 : i64} opset 18 : (tensor<64x64xf32>, tensor<1xi64>) -> tensor<64xf32>
  %1 = onnx.node "MatMul"(%0, %w) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = onnx.node "MatMul"(%1, %a) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = onnx.node "Add"(%2, %a) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = onnx.node "MatMul"(%3, %t) {} opset 18 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = onnx.node "MatMul"(%z, %o) {} opset 18 : (tensor<66x66xf32>, tensor<66x66xf32>) -> tensor<66x66xf32>
  %6 = onnx.node "ReduceSum"(%5) {keepdims = 0 : i64} opset 18 : (tensor<66x66xf32>) -> tensor<f32>
  %7 = onnx.node "MatMul"(%4, %s) {} opset 18 : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %8 = onnx.node "ReduceSum"(%7) {keepdims = 0 : i64} opset 18 : (tensor<64x32xf32>) -> tensor<f32>
  %9 = onnx.node "MatMul"(%4, %h) {} opset 18 : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %loss:3 = onnx.node "CrossEntropySum"(%9, %labels) {ignore_index = -100 : i64, operator = "SoftmaxCrossEntropyLoss"} domain "zero" opset 1 : (tensor<64x128xf32>, tensor<64xi64>) -> (tensor<f32>, tensor<f32>, tensor<64xf32>)
  %10 = onnx.node "Add"(%loss#0, %6) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %11 = onnx.node "Add"(%10, %8) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %12 = onnx.node "ReduceSum"(%squares) {keepdims = 0 : i64} opset 18 : (tensor<64xf32>) -> tensor<f32>
  %13 = onnx.node "Add"(%11, %12) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %13 : tensor<f32>
}
