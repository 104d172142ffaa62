// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Functions without a node are written with nodes that keep their precision near 0.

// CHECK-LABEL: func.func @log_plus_one
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Add"(%[[ARG0]], %[[CST]]) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Log"(%[[V0]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Sub"(%[[V0]], %[[CST]]) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Div"(%[[ARG0]], %[[V2]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Mul"(%[[V1]], %[[V3]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Equal"(%[[V0]], %[[ARG0]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Log"(%[[V0]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Where"(%[[V5]], %[[V6]], %[[V4]]) {} opset 23 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Equal"(%[[V0]], %[[CST]]) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "Where"(%[[V8]], %[[ARG0]], %[[V7]]) {} opset 23 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V9]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @log_plus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.log_plus_one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @exponential_minus_one
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Exp"(%[[ARG0]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Neg"(%[[ARG0]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Elu"(%[[V1]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Mul"(%[[V0]], %[[V2]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Neg"(%[[V3]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Greater"(%[[ARG0]], %[[CST]]) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Elu"(%[[ARG0]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Where"(%[[V5]], %[[V4]], %[[V6]]) {} opset 23 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V7]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @exponential_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.exponential_minus_one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// 16-bit floats are computed in f32.

// CHECK-LABEL: func.func @rsqrt
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xbf16>) -> tensor<4xbf16> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Cast"(%[[ARG0]]) {to = 1 : i64} opset 23 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Sqrt"(%[[V0]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Reciprocal"(%[[V1]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Cast"(%[[V2]]) {to = 16 : i64} opset 23 : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[V3]] : tensor<4xbf16>
// CHECK-NEXT: }
func.func @rsqrt(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.rsqrt"(%x) : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
