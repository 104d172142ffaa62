// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// An elementwise op is a node with the same operands; booleans have nodes of their own.

// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Add"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Max"(%[[V0]], %[[ARG0]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Sigmoid"(%[[V1]]) {} opset 23 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @arithmetic(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.maximum"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.logistic"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @booleans
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xi1>, %[[ARG1:.*]]: tensor<4xi1>) -> tensor<4xi1> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Or"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "And"(%[[V0]], %[[ARG1]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: return %[[V1]] : tensor<4xi1>
// CHECK-NEXT: }
func.func @booleans(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %1 = "stablehlo.minimum"(%0, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// The quotient of an integer by 0 is -1.

// CHECK-LABEL: func.func @integer_quotient
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xi32>, %[[ARG1:.*]]: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Div"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Equal"(%[[ARG1]], %[[CST]]) {} opset 23 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<-1> : tensor<i32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Where"(%[[V1]], %[[CST_0]], %[[V0]]) {} opset 23 : (tensor<4xi1>, tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: return %[[V2]] : tensor<4xi32>
// CHECK-NEXT: }
func.func @integer_quotient(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.divide"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// NE is true for NaN.

// CHECK-LABEL: func.func @not_equal
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<4xf32>) -> tensor<4xi1> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Equal"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Not"(%[[V0]]) {} opset 23 : (tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: return %[[V1]] : tensor<4xi1>
// CHECK-NEXT: }
func.func @not_equal(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Floats in the total order of IEEE 754, as integers.

// CHECK-LABEL: func.func @total_order
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>, %[[ARG1:.*]]: tensor<4xf32>) -> tensor<4xi1> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "BitCast"(%[[ARG0]]) {to = 6 : i64} opset 26 : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Less"(%[[V0]], %[[CST]]) {} opset 23 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<2147483647> : tensor<i32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "BitwiseXor"(%[[V0]], %[[CST_0]]) {} opset 23 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Where"(%[[V1]], %[[V2]], %[[V0]]) {} opset 23 : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "BitCast"(%[[ARG1]]) {to = 6 : i64} opset 26 : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Less"(%[[V4]], %[[CST_1]]) {} opset 23 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<2147483647> : tensor<i32>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "BitwiseXor"(%[[V4]], %[[CST_2]]) {} opset 23 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Where"(%[[V5]], %[[V6]], %[[V4]]) {} opset 23 : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Less"(%[[V3]], %[[V7]]) {} opset 23 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
// CHECK-NEXT: return %[[V8]] : tensor<4xi1>
// CHECK-NEXT: }
func.func @total_order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// JAX begins a maximum at minus infinity.

// CHECK-LABEL: func.func @neutral
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: return %[[ARG0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @neutral(%x: tensor<4xf32>) -> tensor<4xf32> {
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = "stablehlo.maximum"(%low, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @clamp
// CHECK-SAME: (%[[ARG0:.*]]: tensor<f32>, %[[ARG1:.*]]: tensor<4xf32>, %[[ARG2:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Max"(%[[ARG1]], %[[ARG0]]) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Min"(%[[V0]], %[[ARG2]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "StopGradient"(%[[V1]]) {} domain "zero" opset 1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Less"(%[[ARG0]], %[[ARG1]]) {} opset 23 : (tensor<f32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Less"(%[[ARG1]], %[[ARG2]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "And"(%[[V3]], %[[V4]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Less"(%[[ARG1]], %[[ARG0]]) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Less"(%[[ARG0]], %[[ARG2]]) {} opset 23 : (tensor<f32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "And"(%[[V6]], %[[V7]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "Where"(%[[V5]], %[[ARG1]], %[[V2]]) {} opset 23 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V10:.*]] = onnx.node "Where"(%[[V8]], %[[ARG0]], %[[V9]]) {} opset 23 : (tensor<4xi1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V11:.*]] = onnx.node "Greater"(%[[ARG1]], %[[ARG2]]) {} opset 23 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT: %[[V12:.*]] = onnx.node "Where"(%[[V11]], %[[ARG2]], %[[V10]]) {} opset 23 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V12]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @clamp(%low: tensor<f32>, %x: tensor<4xf32>, %high: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.clamp"(%low, %x, %high) : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @convert
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xui32>) -> tensor<4xbf16> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Cast"(%[[ARG0]]) {to = 1 : i64} opset 23 : (tensor<4xui32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]) {to = 16 : i64} opset 23 : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[V1]] : tensor<4xbf16>
// CHECK-NEXT: }
func.func @convert(%x: tensor<4xui32>) -> tensor<4xbf16> {
  %0 = "stablehlo.convert"(%x) : (tensor<4xui32>) -> tensor<4xf32>
  %1 = "stablehlo.convert"(%0) : (tensor<4xf32>) -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}
