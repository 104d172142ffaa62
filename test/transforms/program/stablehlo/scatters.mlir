// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// A window that is not within the operand is left out.

// Sums: such updates become neutral.

// CHECK-LABEL: func.func @add_rows
// CHECK-SAME: (%[[ARG0:.*]]: tensor<9x8xf32>, %[[ARG1:.*]]: tensor<4x1xi32>, %[[ARG2:.*]]: tensor<4x8xf32>) -> tensor<9x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1xi32>, tensor<1xi64>) -> tensor<4xi32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]) {to = 7 : i64} opset 23 : (tensor<4xi32>) -> tensor<4xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "GreaterOrEqual"(%[[V1]], %[[CST_0]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<8> : tensor<i64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "LessOrEqual"(%[[V1]], %[[CST_1]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "And"(%[[V2]], %[[V3]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Reshape"(%[[V4]], %[[CST_3]]) {allowzero = 1 : i64} opset 23 : (tensor<4xi1>, tensor<2xi64>) -> tensor<4x1xi1>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Where"(%[[V5]], %[[ARG2]], %[[CST_2]]) {} opset 23 : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Where"(%[[V4]], %[[V1]], %[[CST_4]]) {} opset 23 : (tensor<4xi1>, tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Reshape"(%[[V7]], %[[CST_5]]) {allowzero = 1 : i64} opset 23 : (tensor<4xi64>, tensor<2xi64>) -> tensor<4x1xi64>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "ScatterND"(%[[ARG0]], %[[V8]], %[[V6]]) {reduction = "add"} opset 23 : (tensor<9x8xf32>, tensor<4x1xi64>, tensor<4x8xf32>) -> tensor<9x8xf32>
// CHECK-NEXT: return %[[V9]] : tensor<9x8xf32>
// CHECK-NEXT: }
func.func @add_rows(%x: tensor<9x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) -> tensor<9x8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<9x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return %0 : tensor<9x8xf32>
}

// Updates that replace: such updates land behind the operand.

// CHECK-LABEL: func.func @set_rows
// CHECK-SAME: (%[[ARG0:.*]]: tensor<9x8xf32>, %[[ARG1:.*]]: tensor<4x1xi32>, %[[ARG2:.*]]: tensor<4x8xf32>) -> tensor<9x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1xi32>, tensor<1xi64>) -> tensor<4xi32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]) {to = 7 : i64} opset 23 : (tensor<4xi32>) -> tensor<4xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "GreaterOrEqual"(%[[V1]], %[[CST_0]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<8> : tensor<i64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "LessOrEqual"(%[[V1]], %[[CST_1]]) {} opset 23 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "And"(%[[V2]], %[[V3]]) {} opset 23 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<[0, 0, 1, 0]> : tensor<4xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Pad"(%[[ARG0]], %[[CST_3]], %[[CST_2]]) {} opset 23 : (tensor<9x8xf32>, tensor<4xi64>, tensor<f32>) -> tensor<10x8xf32>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<9> : tensor<i64>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Where"(%[[V4]], %[[V1]], %[[CST_4]]) {} opset 23 : (tensor<4xi1>, tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Reshape"(%[[V6]], %[[CST_5]]) {allowzero = 1 : i64} opset 23 : (tensor<4xi64>, tensor<2xi64>) -> tensor<4x1xi64>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "ScatterND"(%[[V5]], %[[V7]], %[[ARG2]]) {reduction = "none"} opset 23 : (tensor<10x8xf32>, tensor<4x1xi64>, tensor<4x8xf32>) -> tensor<10x8xf32>
// CHECK-NEXT: %[[CST_6:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_7:.*]] = arith.constant dense<9> : tensor<1xi64>
// CHECK-NEXT: %[[CST_8:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_9:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "Slice"(%[[V8]], %[[CST_6]], %[[CST_7]], %[[CST_8]], %[[CST_9]]) {} opset 23 : (tensor<10x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9x8xf32>
// CHECK-NEXT: return %[[V9]] : tensor<9x8xf32>
// CHECK-NEXT: }
func.func @set_rows(%x: tensor<9x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) -> tensor<9x8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<9x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return %0 : tensor<9x8xf32>
}

// A sum into zeros is the gradient of a gather.

// CHECK-LABEL: func.func @embedding_gradient
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> tensor<9x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[0, 3, 8, 3]> : tensor<4xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "GatherGrad"(%[[ARG0]], %[[CST]]) {axis = 0 : i64, shape = array<i64: 9, 8>} domain "zero" opset 1 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<9x8xf32>
// CHECK-NEXT: return %[[V0]] : tensor<9x8xf32>
// CHECK-NEXT: }
func.func @embedding_gradient(%dy: tensor<4x8xf32>) -> tensor<9x8xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<9x8xf32>
  %i = "stablehlo.constant"() <{value = dense<[[0], [3], [8], [3]]> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %0 = "stablehlo.scatter"(%zeros, %i, %dy) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<9x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  return %0 : tensor<9x8xf32>
}

// Batching dimensions are indices that count up.

// CHECK-LABEL: func.func @add_along_axis
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x10xf32>, %[[ARG1:.*]]: tensor<4x1x1xi32>, %[[ARG2:.*]]: tensor<4x1xf32>) -> tensor<4x10xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1x1xi32>, tensor<2xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Cast"(%[[V0]]) {to = 7 : i64} opset 23 : (tensor<4x1xi32>) -> tensor<4x1xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "GreaterOrEqual"(%[[V1]], %[[CST_0]]) {} opset 23 : (tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi1>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<9> : tensor<i64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "LessOrEqual"(%[[V1]], %[[CST_1]]) {} opset 23 : (tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi1>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "And"(%[[V2]], %[[V3]]) {} opset 23 : (tensor<4x1xi1>, tensor<4x1xi1>) -> tensor<4x1xi1>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Where"(%[[V4]], %[[ARG2]], %[[CST_2]]) {} opset 23 : (tensor<4x1xi1>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Where"(%[[V4]], %[[V1]], %[[CST_3]]) {} opset 23 : (tensor<4x1xi1>, tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi64>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<{{\[\[}}[0]], {{\[\[}}1]], {{\[\[}}2]], {{\[\[}}3]]]> : tensor<4x1x1xi64>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<[4, 1, 1]> : tensor<3xi64>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Reshape"(%[[V6]], %[[CST_5]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x1x1xi64>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Concat"(%[[CST_4]], %[[V7]]) {axis = 2 : i64} opset 23 : (tensor<4x1x1xi64>, tensor<4x1x1xi64>) -> tensor<4x1x2xi64>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "ScatterND"(%[[ARG0]], %[[V8]], %[[V5]]) {reduction = "add"} opset 23 : (tensor<4x10xf32>, tensor<4x1x2xi64>, tensor<4x1xf32>) -> tensor<4x10xf32>
// CHECK-NEXT: return %[[V9]] : tensor<4x10xf32>
// CHECK-NEXT: }
func.func @add_along_axis(%x: tensor<4x10xf32>, %i: tensor<4x1x1xi32>, %u: tensor<4x1xf32>) -> tensor<4x10xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4x10xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
