// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Functions that ONNX lacks have nodes of their own, whose gradients are their derivatives.

// CHECK-LABEL: func.func @log_plus_one
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Log1p"(%arg0) {} domain "zero" opset 1
// CHECK-NEXT: return %[[Y]]
func.func @log_plus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.log_plus_one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @exponential_minus_one
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Expm1"(%arg0) {} domain "zero" opset 1
// CHECK-NEXT: return %[[Y]]
func.func @exponential_minus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.exponential_minus_one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @cbrt
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Cbrt"(%arg0) {} domain "zero" opset 1
// CHECK-NEXT: return %[[Y]]
func.func @cbrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.cbrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @erfc
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Erfc"(%arg0) {} domain "zero" opset 1
// CHECK-NEXT: return %[[Y]]
func.func @erfc(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "chlo.erfc"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_inv
// CHECK-NEXT: %[[Y:.*]] = onnx.node "ErfInv"(%arg0) {} domain "zero" opset 1
// CHECK-NEXT: return %[[Y]]
func.func @erf_inv(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "chlo.erf_inv"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @atan2
// CHECK-NEXT: onnx.node "Atan2"(%arg0, %arg1) {} domain "zero" opset 1
func.func @atan2(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.atan2"(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @next_after
// CHECK-SAME: (%[[ARG0:.*]]: tensor<f32>, %[[ARG1:.*]]: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "BitCast"(%[[ARG0]]) {to = 6 : i64} opset 26 : (tensor<f32>) -> tensor<i32>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Less"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Greater"(%[[ARG0]], %[[CST]]) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Xor"(%[[V1]], %[[V2]]) {} opset 23 : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Not"(%[[V3]]) {} opset 23 : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<-1> : tensor<i32>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Where"(%[[V4]], %[[CST_0]], %[[CST_1]]) {} opset 23 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Add"(%[[V0]], %[[V5]]) {} opset 23 : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "BitCast"(%[[V6]]) {to = 1 : i64} opset 26 : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "BitCast"(%[[CST_2]]) {to = 1 : i64} opset 26 : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "Less"(%[[ARG1]], %[[CST]]) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V10:.*]] = onnx.node "Neg"(%[[V8]]) {} opset 23 : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V11:.*]] = onnx.node "Where"(%[[V9]], %[[V10]], %[[V8]]) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V12:.*]] = onnx.node "Equal"(%[[ARG0]], %[[CST]]) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V13:.*]] = onnx.node "Where"(%[[V12]], %[[V11]], %[[V7]]) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V14:.*]] = onnx.node "Equal"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V15:.*]] = onnx.node "Where"(%[[V14]], %[[ARG1]], %[[V13]]) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V16:.*]] = onnx.node "IsNaN"(%[[ARG0]]) {} opset 23 : (tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V17:.*]] = onnx.node "IsNaN"(%[[ARG1]]) {} opset 23 : (tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V18:.*]] = onnx.node "Or"(%[[V16]], %[[V17]]) {} opset 23 : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V19:.*]] = onnx.node "Add"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V20:.*]] = onnx.node "Where"(%[[V18]], %[[V19]], %[[V15]]) {} opset 23 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V20]] : tensor<f32>
// CHECK-NEXT: }
func.func @next_after(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = "chlo.next_after"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
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
