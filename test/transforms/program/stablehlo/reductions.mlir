// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// A reduction with a known body is one node.

// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ReduceSum"(%[[ARG0]], %[[CST]]) {keepdims = 0 : i64} opset 23 : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An initial value that changes the result is combined with it.

// CHECK-LABEL: func.func @largest_or_zero
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> tensor<8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ReduceMax"(%[[ARG0]], %[[CST_0]]) {keepdims = 0 : i64} opset 23 : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Max"(%[[V0]], %[[CST]]) {} opset 23 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[V1]] : tensor<8xf32>
// CHECK-NEXT: }
func.func @largest_or_zero(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @any
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xi1>) -> tensor<4xi1> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ReduceMax"(%[[ARG0]], %[[CST]]) {keepdims = 0 : i64} opset 23 : (tensor<4x8xi1>, tensor<1xi64>) -> tensor<4xi1>
// CHECK-NEXT: return %[[V0]] : tensor<4xi1>
// CHECK-NEXT: }
func.func @any(%x: tensor<4x8xi1>) -> tensor<4xi1> {
  %init = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %c = "stablehlo.or"(%a, %b) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }) : (tensor<4x8xi1>, tensor<i1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Any other body combines halves.

// CHECK-LABEL: func.func @parity
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x3xi32>) -> tensor<4xi32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST_0]], %[[CST_1]], %[[CST_2]], %[[CST_3]]) {} opset 23 : (tensor<4x3xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<2> : tensor<1xi64>
// CHECK-NEXT: %[[CST_6:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_7:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST_4]], %[[CST_5]], %[[CST_6]], %[[CST_7]]) {} opset 23 : (tensor<4x3xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "BitwiseXor"(%[[V0]], %[[V1]]) {} opset 23 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[CST_8:.*]] = arith.constant dense<2> : tensor<1xi64>
// CHECK-NEXT: %[[CST_9:.*]] = arith.constant dense<3> : tensor<1xi64>
// CHECK-NEXT: %[[CST_10:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_11:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST_8]], %[[CST_9]], %[[CST_10]], %[[CST_11]]) {} opset 23 : (tensor<4x3xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Concat"(%[[V2]], %[[V3]]) {axis = 1 : i64} opset 23 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
// CHECK-NEXT: %[[CST_12:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_13:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_14:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_15:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Slice"(%[[V4]], %[[CST_12]], %[[CST_13]], %[[CST_14]], %[[CST_15]]) {} opset 23 : (tensor<4x2xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[CST_16:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_17:.*]] = arith.constant dense<2> : tensor<1xi64>
// CHECK-NEXT: %[[CST_18:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_19:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Slice"(%[[V4]], %[[CST_16]], %[[CST_17]], %[[CST_18]], %[[CST_19]]) {} opset 23 : (tensor<4x2xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "BitwiseXor"(%[[V5]], %[[V6]]) {} opset 23 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[CST_20:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Expand"(%[[CST]], %[[CST_20]]) {} opset 23 : (tensor<i32>, tensor<1xi64>) -> tensor<4xi32>
// CHECK-NEXT: %[[CST_21:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "Reshape"(%[[V7]], %[[CST_21]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1xi32>, tensor<1xi64>) -> tensor<4xi32>
// CHECK-NEXT: %[[V10:.*]] = onnx.node "BitwiseXor"(%[[V8]], %[[V9]]) {} opset 23 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT: return %[[V10]] : tensor<4xi32>
// CHECK-NEXT: }
func.func @parity(%x: tensor<4x3xi32>) -> tensor<4xi32> {
  %init = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = "stablehlo.xor"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%c) : (tensor<i32>) -> ()
  }) : (tensor<4x3xi32>, tensor<i32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Values with their indices: argmax.

// CHECK-LABEL: func.func @argmax
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "ReduceMax"(%[[ARG0]], %[[CST]]) {keepdims = 0 : i64} opset 23 : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "ArgMax"(%[[ARG0]]) {axis = 1 : i64, keepdims = 0 : i64} opset 23 : (tensor<4x8xf32>) -> tensor<4xi64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Cast"(%[[V1]]) {to = 6 : i64} opset 23 : (tensor<4xi64>) -> tensor<4xi32>
// CHECK-NEXT: return %[[V0]], %[[V2]] : tensor<4xf32>, tensor<4xi32>
// CHECK-NEXT: }
func.func @argmax(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %indices = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x8xi32>
  %0:2 = "stablehlo.reduce"(%x, %indices, %low, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
    %gt = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = "stablehlo.compare"(%a, %a) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %picked = "stablehlo.or"(%gt, %nan) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %eq = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lower = "stablehlo.compare"(%i, %j) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tied = "stablehlo.and"(%eq, %lower) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %first = "stablehlo.or"(%picked, %tied) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %value = "stablehlo.select"(%picked, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %index = "stablehlo.select"(%first, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%value, %index) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
