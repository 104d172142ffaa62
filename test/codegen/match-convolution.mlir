// RUN: zero-opt %s --zero-form-kernels --zero-annotate-costs --zero-match-library --split-input-file | FileCheck %s

// A convolution is a library call with scratch.
// CHECK-LABEL: func.func private @k0_conv(
// CHECK-SAME: zero.flops = 18432 : i64
// CHECK-SAME: zero.library = #zero.library<#zero.convolution<direction = forward, batch = 2, groups = 1, in_channels = 4, out_channels = 8, input = [4, 4], output = [4, 4], kernel = [3, 3], strides = [1, 1], dilations = [1, 1]
// CHECK-SAME: pads_begin = [1, 1], pads_end = [1, 1], bias = true>>
// CHECK-SAME: zero.workspace =
func.func @step(%x: tensor<2x4x4x4xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>) -> tensor<2x8x4x4xf32> {
  %y = onnx.node "Conv"(%x, %w, %b) {pads = array<i64: 1, 1, 1, 1>} opset 18 node "n" : (tensor<2x4x4x4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  return %y : tensor<2x8x4x4xf32>
}

// -----

// Convolutions that the library does not support are compiled: another type, an empty batch, and
// weights that are a constant of the model.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.library
// CHECK-NOT: zero.call
func.func @step(%x: tensor<1x1x4x4xf64>, %n: tensor<0x1x4x4xf32>, %s: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf64>, tensor<0x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %v = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %a = onnx.node "Conv"(%x, %w) {} opset 18 node "a" : (tensor<1x1x4x4xf64>, tensor<1x1x1x1xf64>) -> tensor<1x1x4x4xf64>
  %b = onnx.node "Conv"(%n, %v) {} opset 18 node "b" : (tensor<0x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<0x1x4x4xf32>
  %c = onnx.node "Conv"(%s, %v) {} opset 18 node "c" : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %a, %b, %c : tensor<1x1x4x4xf64>, tensor<0x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// An image that is the weights, too, is both arguments of a call.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @k0_conv(%arg0, %arg0)
// CHECK: func.func private @k0_conv(%{{.*}}: tensor<3x3x3x3xf32>, %{{.*}}: tensor<3x3x3x3xf32>)
// CHECK-SAME: #zero.convolution<
func.func @step(%s: tensor<3x3x3x3xf32>) -> tensor<3x3x1x1xf32> {
  %c = onnx.node "Conv"(%s, %s) {} opset 18 node "c" : (tensor<3x3x3x3xf32>, tensor<3x3x3x3xf32>) -> tensor<3x3x1x1xf32>
  return %c : tensor<3x3x1x1xf32>
}

// -----

// Images, weights and results stored in 16 bits: the library converts.
// CHECK: func.func private @k0_conv(%{{.*}}: tensor<2x4x4x4xf32>, %{{.*}}: tensor<8x4x3x3xbf16>) -> tensor<2x8x4x4xbf16>
// CHECK-SAME: #zero.convolution<
// CHECK-SAME: >, stored = [f32, bf16, bf16]>
func.func @step(%x: tensor<2x4x4x4xf32>, %w: tensor<8x4x3x3xbf16>) -> tensor<2x8x4x4xbf16> {
  %y = onnx.node "Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} opset 18 node "n" : (tensor<2x4x4x4xf32>, tensor<8x4x3x3xbf16>) -> tensor<2x8x4x4xbf16>
  return %y : tensor<2x8x4x4xbf16>
}
