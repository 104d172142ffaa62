// RUN: zero-opt %s --zero-set-frozen-precision=precision=bf16 --zero-verify-precision | FileCheck %s
// RUN: not zero-opt %s --zero-set-frozen-precision=precision=int4 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not zero-opt %s --zero-set-precision=precision=bf16 --zero-set-frozen-precision 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/, frozen//' %s | not zero-opt --zero-set-frozen-precision 2>&1 | FileCheck %s --check-prefix=NONE
// WORD: the --precision option: expected bf16, fp16, nf4, int8 or fp8, got 'int4'
// BOTH: error: --frozen-precision=bf16: expected no --precision, which stores all parameters in 16 bits
// NONE: error: --frozen-precision=bf16: expected frozen parameters of f32, found none

// Only frozen parameters, their reads and views of them change. Computed values do not.
// CHECK: module attributes {zero.frozen_precision = bf16}
// CHECK: zero.parameter @base : tensor<16xbf16> {data = #zero.data<"m.onnx", 0, 64, f32>, frozen}
// CHECK: zero.parameter @half : tensor<4xbf16> {data = #zero.data<"m.onnx", 64, 8, bf16>, frozen}
// CHECK: zero.parameter @adapter : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// CHECK: zero.state {{ *}}constant @mask : tensor<4xf32>
zero.parameter @base : tensor<16xf32> {data = #zero.data<"m.onnx", 0, 64>, frozen}
zero.parameter @half : tensor<4xf32> {data = #zero.data<"m.onnx", 64, 8, bf16>, frozen}
zero.parameter @adapter : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @mask : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
// CHECK: func.func @step(%{{.*}}: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32>
func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %b = zero.read @base : tensor<16xf32>
  %h = zero.read @half : tensor<4xf32>
  %a = zero.read @adapter : tensor<4x4xf32>
  %m = zero.read @mask : tensor<4xf32>
  %shape = arith.constant dense<[4, 4]> : tensor<2xi64>
  // CHECK: onnx.node "Reshape"{{.*}} : (tensor<16xbf16>, tensor<2xi64>) -> tensor<4x4xbf16>
  %v = onnx.node "Reshape"(%b, %shape) {} opset 18 : (tensor<16xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  // CHECK: onnx.node "MatMul"{{.*}} : (tensor<4x4xf32>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %0 = onnx.node "MatMul"(%x, %v) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: onnx.node "Add"{{.*}} : (tensor<4x4xf32>, tensor<4xbf16>) -> tensor<4x4xf32>
  %1 = onnx.node "Add"(%0, %h) {} opset 18 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = onnx.node "MatMul"(%1, %a) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = onnx.node "Add"(%2, %m) {} opset 18 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %loss = onnx.node "ReduceMean"(%3) {keepdims = 0 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
