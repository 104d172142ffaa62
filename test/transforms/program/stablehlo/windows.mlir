// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Windows of floats are pooling over the dimensions that they span.

// CHECK-LABEL: func.func @max_pool
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Transpose"(%[[ARG0]]) {perm = array<i64: 0, 3, 1, 2>} opset 23 : (tensor<2x8x8x3xf32>) -> tensor<2x3x8x8xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "MaxPool"(%[[V0]]) {dilations = array<i64: 1, 1>, kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} opset 23 : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Transpose"(%[[V1]]) {perm = array<i64: 0, 2, 3, 1>} opset 23 : (tensor<2x3x4x4xf32>) -> tensor<2x4x4x3xf32>
// CHECK-NEXT: return %[[V2]] : tensor<2x4x4x3xf32>
// CHECK-NEXT: }
func.func @max_pool(%x: tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32> {
  %init = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x8x3xf32>, tensor<f32>) -> tensor<2x4x4x3xf32>
  return %0 : tensor<2x4x4x3xf32>
}

// CHECK-LABEL: func.func @sum_pool
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "AveragePool"(%[[ARG0]]) {count_include_pad = 1 : i64, dilations = array<i64: 1>, kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>, strides = array<i64: 1>} opset 23 : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Mul"(%[[V0]], %[[CST]]) {} opset 23 : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x3x8xf32>
// CHECK-NEXT: }
func.func @sum_pool(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 1, 3>, padding = dense<[[0, 0], [0, 0], [1, 1]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// A window over all that comes before is a running sum.

// CHECK-LABEL: func.func @running_sum
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<1> : tensor<i64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "CumSum"(%[[ARG0]], %[[CST]]) {reverse = 0 : i64} opset 23 : (tensor<2x8xf32>, tensor<i64>) -> tensor<2x8xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x8xf32>
// CHECK-NEXT: }
func.func @running_sum(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 8>, padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// A running reduction by another body combines elements at distances that double.

// CHECK-LABEL: func.func @running_body
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<[1, -1]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Pad"(%[[ARG0]], %[[CST_0]], %[[CST]]) {} opset 23 : (tensor<4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Mul"(%[[V0]], %[[ARG0]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Abs"(%[[V1]]) {slope_at_zero = 1.000000e+00 : f32} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<[2, -2]> : tensor<2xi64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Pad"(%[[V2]], %[[CST_1]], %[[CST]]) {} opset 23 : (tensor<4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Mul"(%[[V3]], %[[V2]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Abs"(%[[V4]]) {slope_at_zero = 1.000000e+00 : f32} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Expand"(%[[CST]], %[[CST_2]]) {} opset 23 : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Mul"(%[[V6]], %[[V5]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Abs"(%[[V7]]) {slope_at_zero = 1.000000e+00 : f32} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V8]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @running_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.multiply"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %d = "stablehlo.abs"(%c) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%d) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Integers: one slice for each element of a window.

// CHECK-LABEL: func.func @integers
// CHECK-SAME: (%[[ARG0:.*]]: tensor<8xi32>) -> tensor<7xi32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<7> : tensor<1xi64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST]], %[[CST_0]], %[[CST_1]], %[[CST_2]]) {} opset 23 : (tensor<8xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<7xi32>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<8> : tensor<1xi64>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_6:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST_3]], %[[CST_4]], %[[CST_5]], %[[CST_6]]) {} opset 23 : (tensor<8xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<7xi32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Add"(%[[V0]], %[[V1]]) {} opset 23 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
// CHECK-NEXT: return %[[V2]] : tensor<7xi32>
// CHECK-NEXT: }
func.func @integers(%x: tensor<8xi32>) -> tensor<7xi32> {
  %init = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%c) : (tensor<i32>) -> ()
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<7xi32>
  return %0 : tensor<7xi32>
}

// The gradient of a max pooling.

// CHECK-LABEL: func.func @max_pool_gradient
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2x8x8x3xf32>, %[[ARG1:.*]]: tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Transpose"(%[[ARG0]]) {perm = array<i64: 0, 3, 1, 2>} opset 23 : (tensor<2x8x8x3xf32>) -> tensor<2x3x8x8xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Transpose"(%[[ARG1]]) {perm = array<i64: 0, 3, 1, 2>} opset 23 : (tensor<2x4x4x3xf32>) -> tensor<2x3x4x4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "MaxPoolGrad"(%[[V1]], %[[V0]]) {dilations = array<i64: 1, 1>, kernel_shape = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} domain "zero" opset 1 : (tensor<2x3x4x4xf32>, tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Transpose"(%[[V2]]) {perm = array<i64: 0, 2, 3, 1>} opset 23 : (tensor<2x3x8x8xf32>) -> tensor<2x8x8x3xf32>
// CHECK-NEXT: return %[[V3]] : tensor<2x8x8x3xf32>
// CHECK-NEXT: }
func.func @max_pool_gradient(%x: tensor<2x8x8x3xf32>, %dy: tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x8x3xf32>, tensor<2x4x4x3xf32>, tensor<f32>) -> tensor<2x8x8x3xf32>
  return %0 : tensor<2x8x8x3xf32>
}
