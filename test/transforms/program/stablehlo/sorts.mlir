// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// A sort is a TopK of all elements; the other operands are gathered by its indices.

// CHECK-LABEL: func.func @by_key
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xi32>, %[[ARG1:.*]]: tensor<4x8xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>) {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<8> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]]:2 = onnx.node "TopK"(%[[ARG0]], %[[CST]]) {axis = 1 : i64, largest = 0 : i64, sorted = 1 : i64} opset 23 : (tensor<4x8xi32>, tensor<1xi64>) -> (tensor<4x8xi32>, tensor<4x8xi64>)
// CHECK-NEXT: %[[V1:.*]] = onnx.node "GatherElements"(%[[ARG1]], %[[V0]]#1) {axis = 1 : i64} opset 23 : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[V0]]#0, %[[V1]] : tensor<4x8xi32>, tensor<4x8xf32>
// CHECK-NEXT: }
func.func @by_key(%x: tensor<4x8xi32>, %y: tensor<4x8xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %less = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%less) : (tensor<i1>) -> ()
  }) : (tensor<4x8xi32>, tensor<4x8xf32>) -> (tensor<4x8xi32>, tensor<4x8xf32>)
  return %0#0, %0#1 : tensor<4x8xi32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @top_k
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<2> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]]:2 = onnx.node "TopK"(%[[ARG0]], %[[CST]]) {axis = 1 : i64, largest = 1 : i64, sorted = 1 : i64} opset 23 : (tensor<4x8xf32>, tensor<1xi64>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]#1) {to = 6 : i64} opset 23 : (tensor<4x2xi64>) -> tensor<4x2xi32>
// CHECK-NEXT: return %[[V0]]#0, %[[V1]] : tensor<4x2xf32>, tensor<4x2xi32>
// CHECK-NEXT: }
func.func @top_k(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %0:2 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>
}
