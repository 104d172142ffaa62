// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// What has no elements is not computed.

// CHECK-LABEL: func.func @sort
// CHECK-SAME: (%[[ARG0:.*]]: tensor<0x4xf32>) -> tensor<0x4xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<[0, 4]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Expand"(%[[CST]], %[[CST_0]]) {} opset 23 : (tensor<f32>, tensor<2xi64>) -> tensor<0x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<0x4xf32>
// CHECK-NEXT: }
func.func @sort(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%less) : (tensor<i1>) -> ()
  }) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// A sum of nothing is the initial value.

// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[ARG0:.*]]: tensor<0x4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Expand"(%[[CST]], %[[CST_0]]) {} opset 23 : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
// CHECK-NEXT: }
func.func @sum(%x: tensor<0x4xf32>) -> tensor<4xf32> {
  %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
