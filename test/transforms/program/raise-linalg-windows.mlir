// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// Convolutions and pooling in any order of dimensions, with the pads of a tensor.pad before them.

// CHECK-LABEL: func.func @convolution
// CHECK: %[[Y:.*]] = onnx.node "Conv"(%arg0, %arg1) {dilations = array<i64: 1, 1>, group = 1 : i64, kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} {{.*}} -> tensor<2x4x4x4xf32>
// CHECK: onnx.node "Add"(%arg2, %[[Y]])
func.func @convolution(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x3x8x8xf32> to tensor<2x3x10x10xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %w : tensor<2x3x10x10xf32>, tensor<4x3x3x3xf32>) outs(%b : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// CHECK-LABEL: func.func @channels_last
// CHECK: %[[X:.*]] = onnx.node "Transpose"(%arg0) {perm = array<i64: 0, 3, 1, 2>}
// CHECK: %[[W:.*]] = onnx.node "Transpose"(%arg1) {perm = array<i64: 3, 2, 0, 1>}
// CHECK: %[[Y:.*]] = onnx.node "Conv"(%[[X]], %[[W]])
// CHECK: onnx.node "Transpose"(%[[Y]]) {perm = array<i64: 0, 2, 3, 1>}
func.func @channels_last(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32> {
  %f = arith.constant dense<0.0> : tensor<2x6x6x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%f : tensor<2x6x6x4xf32>) -> tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// CHECK-LABEL: func.func @groups
// CHECK: %[[W:.*]] = onnx.node "Reshape"(%arg1, {{.*}} -> tensor<3x1x3x3xf32>
// CHECK: onnx.node "Conv"(%arg0, %[[W]]) {{.*}}group = 3 : i64
// CHECK: %[[X2:.*]] = onnx.node "Reshape"(%arg2, {{.*}} -> tensor<2x6x8x8xf32>
// CHECK: onnx.node "Conv"({{.*}}) {dilations = array<i64: 2, 1>, group = 2 : i64
func.func @groups(%x: tensor<2x3x8x8xf32>, %w: tensor<3x3x3xf32>, %x2: tensor<2x2x3x8x8xf32>, %w2: tensor<2x4x3x3x3xf32>) -> (tensor<2x3x6x6xf32>, tensor<2x2x4x4x6xf32>) {
  %f = arith.constant dense<0.0> : tensor<2x3x6x6xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<2x3x8x8xf32>, tensor<3x3x3xf32>) outs(%f : tensor<2x3x6x6xf32>) -> tensor<2x3x6x6xf32>
  %f2 = arith.constant dense<0.0> : tensor<2x2x4x4x6xf32>
  %1 = linalg.conv_2d_ngchw_gfchw {dilations = dense<[2, 1]> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x2, %w2 : tensor<2x2x3x8x8xf32>, tensor<2x4x3x3x3xf32>) outs(%f2 : tensor<2x2x4x4x6xf32>) -> tensor<2x2x4x4x6xf32>
  return %0, %1 : tensor<2x3x6x6xf32>, tensor<2x2x4x4x6xf32>
}

// CHECK-LABEL: func.func @other_ranks
// CHECK: onnx.node "Conv"(%arg0, %arg1) {dilations = array<i64: 1>
// CHECK: onnx.node "Conv"({{.*}}) {dilations = array<i64: 1, 1, 1>
func.func @other_ranks(%x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>, %x3: tensor<2x4x4x4x3xf32>, %w3: tensor<2x2x2x3x5xf32>) -> (tensor<2x4x6xf32>, tensor<2x3x3x3x5xf32>) {
  %f = arith.constant dense<0.0> : tensor<2x4x6xf32>
  %0 = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<2x3x8xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %f3 = arith.constant dense<0.0> : tensor<2x3x3x3x5xf32>
  %1 = linalg.conv_3d_ndhwc_dhwcf ins(%x3, %w3 : tensor<2x4x4x4x3xf32>, tensor<2x2x2x3x5xf32>) outs(%f3 : tensor<2x3x3x3x5xf32>) -> tensor<2x3x3x3x5xf32>
  return %0, %1 : tensor<2x4x6xf32>, tensor<2x3x3x3x5xf32>
}

// Windows cover a part of the padded image only. A sum is a mean times the size of the window.
// CHECK-LABEL: func.func @pooling
// CHECK: onnx.node "MaxPool"(%arg0) {dilations = array<i64: 1, 1>, kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} {{.*}} -> tensor<2x3x4x4xf32>
// CHECK: %[[CUT:.*]] = onnx.node "Slice"
// CHECK: %[[MEAN:.*]] = onnx.node "AveragePool"({{.*}}) {count_include_pad = 1 : i64
// CHECK: %[[SIZE:.*]] = arith.constant dense<6.000000e+00>
// CHECK: onnx.node "Mul"(%[[MEAN]], %[[SIZE]])
func.func @pooling(%x: tensor<2x3x8x8xf32>, %y: tensor<2x8x10x3xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x4x3x3xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %low : f32
  } : tensor<2x3x8x8xf32> to tensor<2x3x10x10xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %f = arith.constant dense<0xFF800000> : tensor<2x3x4x4xf32>
  %0 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%p, %window : tensor<2x3x10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %window2 = tensor.empty() : tensor<2x3xf32>
  %g = arith.constant dense<0.0> : tensor<2x4x3x3xf32>
  %1 = linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 3]> : vector<2xi64>} ins(%y, %window2 : tensor<2x8x10x3xf32>, tensor<2x3xf32>) outs(%g : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  return %0, %1 : tensor<2x3x4x4xf32>, tensor<2x4x3x3xf32>
}

// The gradient of weights, as a loop over the outputs and as a convolution with them as weights.
// CHECK-LABEL: func.func @weights_gradient
// CHECK: %[[A:.*]] = onnx.node "ConvGradW"(%arg1, %arg0) {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} domain "zero" {{.*}} -> tensor<4x3x3x3xf32>
// CHECK: %[[B:.*]] = onnx.node "ConvGradW"({{.*}}) {{.*}}strides = array<i64: 2, 2>} domain "zero"
// CHECK: %[[C:.*]] = onnx.node "Transpose"(%[[B]]) {perm = array<i64: 1, 0, 2, 3>}
// CHECK: return %[[A]], %[[C]]
func.func @weights_gradient(%x: tensor<2x3x8x8xf32>, %dy: tensor<2x4x4x4xf32>, %xt: tensor<3x2x9x9xf32>, %dyt: tensor<4x2x4x4xf32>) -> (tensor<4x3x3x3xf32>, tensor<3x4x3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x3x8x8xf32> to tensor<2x3x10x10xf32>
  %f = arith.constant dense<0.0> : tensor<4x3x3x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(f, c, kh, kw, n, oh, ow) -> (n, c, oh * 2 + kh, ow * 2 + kw)>, affine_map<(f, c, kh, kw, n, oh, ow) -> (n, f, oh, ow)>, affine_map<(f, c, kh, kw, n, oh, ow) -> (f, c, kh, kw)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %dy : tensor<2x3x10x10xf32>, tensor<2x4x4x4xf32>) outs(%f : tensor<4x3x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x3x3x3xf32>
  %g = arith.constant dense<0.0> : tensor<3x4x3x3xf32>
  %1 = linalg.conv_2d_nchw_fchw {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xt, %dyt : tensor<3x2x9x9xf32>, tensor<4x2x4x4xf32>) outs(%g : tensor<3x4x3x3xf32>) -> tensor<3x4x3x3xf32>
  return %0, %1 : tensor<4x3x3x3xf32>, tensor<3x4x3x3xf32>
}
