// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// The type of a BitShift decides whether the sign or 0 enters from the left.

// CHECK-LABEL: func.func @shifts
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xi32>, %[[ARG1:.*]]: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "BitCast"(%[[ARG0]]) {to = 12 : i64} opset 26 : (tensor<4xi32>) -> tensor<4xui32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "BitCast"(%[[ARG1]]) {to = 12 : i64} opset 26 : (tensor<4xi32>) -> tensor<4xui32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "BitShift"(%[[V0]], %[[V1]]) {direction = "RIGHT"} opset 23 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "BitCast"(%[[V2]]) {to = 6 : i64} opset 26 : (tensor<4xui32>) -> tensor<4xi32>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "BitShift"(%[[ARG0]], %[[ARG1]]) {direction = "RIGHT"} opset 23 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: return %[[V3]], %[[V4]] : tensor<4xi32>, tensor<4xi32>
// CHECK-NEXT: }
func.func @shifts(%x: tensor<4xi32>, %n: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = "stablehlo.shift_right_logical"(%x, %n) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = "stablehlo.shift_right_arithmetic"(%x, %n) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @bits
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xui32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "BitwiseNot"(%[[ARG0]]) {} opset 23 : (tensor<4xui32>) -> tensor<4xui32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "BitCast"(%[[V0]]) {to = 1 : i64} opset 26 : (tensor<4xui32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @bits(%x: tensor<4xui32>) -> tensor<4xf32> {
  %0 = "stablehlo.not"(%x) : (tensor<4xui32>) -> tensor<4xui32>
  %1 = "stablehlo.bitcast_convert"(%0) : (tensor<4xui32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Bits of a bf16 are the upper half of those of the f32 that it is.

// CHECK-LABEL: func.func @short_float
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xui16>) -> tensor<4xbf16> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Cast"(%[[ARG0]]) {to = 12 : i64} opset 23 : (tensor<4xui16>) -> tensor<4xui32>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<16> : tensor<ui32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "BitShift"(%[[V0]], %[[CST]]) {direction = "LEFT"} opset 23 : (tensor<4xui32>, tensor<ui32>) -> tensor<4xui32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "BitCast"(%[[V1]]) {to = 1 : i64} opset 26 : (tensor<4xui32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Cast"(%[[V2]]) {to = 16 : i64} opset 23 : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[V3]] : tensor<4xbf16>
// CHECK-NEXT: }
func.func @short_float(%x: tensor<4xui16>) -> tensor<4xbf16> {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<4xui16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Narrower integers are the last dimension, the lowest first.

// CHECK-LABEL: func.func @narrow
// CHECK-SAME: (%[[ARG0:.*]]: tensor<2xui32>) -> tensor<2x2xui16> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Cast"(%[[ARG0]]) {to = 4 : i64} opset 23 : (tensor<2xui32>) -> tensor<2xui16>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[2, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Reshape"(%[[V0]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<2xui16>, tensor<2xi64>) -> tensor<2x1xui16>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<16> : tensor<ui32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "BitShift"(%[[ARG0]], %[[CST_0]]) {direction = "RIGHT"} opset 23 : (tensor<2xui32>, tensor<ui32>) -> tensor<2xui32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Cast"(%[[V2]]) {to = 4 : i64} opset 23 : (tensor<2xui32>) -> tensor<2xui16>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<[2, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Reshape"(%[[V3]], %[[CST_1]]) {allowzero = 1 : i64} opset 23 : (tensor<2xui16>, tensor<2xi64>) -> tensor<2x1xui16>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Concat"(%[[V1]], %[[V4]]) {axis = 1 : i64} opset 23 : (tensor<2x1xui16>, tensor<2x1xui16>) -> tensor<2x2xui16>
// CHECK-NEXT: return %[[V5]] : tensor<2x2xui16>
// CHECK-NEXT: }
func.func @narrow(%x: tensor<2xui32>) -> tensor<2x2xui16> {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xui32>) -> tensor<2x2xui16>
  return %0 : tensor<2x2xui16>
}

// The derivative of the bits of a float is zero, as in JAX.

// CHECK-LABEL: func.func @float_bits
// CHECK-NEXT: %[[CUT:.*]] = onnx.node "StopGradient"(%arg0) {} domain "zero" opset 1
// CHECK-NEXT: onnx.node "BitCast"(%[[CUT]])
func.func @float_bits(%x: tensor<4xf32>) -> tensor<4xui32> {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<4xf32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}
