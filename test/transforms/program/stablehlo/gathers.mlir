// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Indices are clamped so that each window is within the operand.

// Rows of a table.

// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[ARG0:.*]]: tensor<9x8xf32>, %[[ARG1:.*]]: tensor<4x3x1xi32>) -> tensor<4x3x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[4, 3]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<4x3x1xi32>, tensor<2xi64>) -> tensor<4x3xi32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<8> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Clip"(%[[V0]], %[[CST_0]], %[[CST_1]]) {} opset 23 : (tensor<4x3xi32>, tensor<i32>, tensor<i32>) -> tensor<4x3xi32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Cast"(%[[V1]]) {to = 7 : i64} opset 23 : (tensor<4x3xi32>) -> tensor<4x3xi64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Gather"(%[[ARG0]], %[[V2]]) {axis = 0 : i64} opset 23 : (tensor<9x8xf32>, tensor<4x3xi64>) -> tensor<4x3x8xf32>
// CHECK-NEXT: return %[[V3]] : tensor<4x3x8xf32>
// CHECK-NEXT: }
func.func @rows(%x: tensor<9x8xf32>, %i: tensor<4x3x1xi32>) -> tensor<4x3x8xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 8>, indices_are_sorted = false}> : (tensor<9x8xf32>, tensor<4x3x1xi32>) -> tensor<4x3x8xf32>
  return %0 : tensor<4x3x8xf32>
}

// One element of each row of a batch.

// CHECK-LABEL: func.func @along_axis
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x10xf32>, %[[ARG1:.*]]: tensor<4x1x1xi32>) -> tensor<4x1xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[4, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<4x1x1xi32>, tensor<2xi64>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<9> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Clip"(%[[V0]], %[[CST_0]], %[[CST_1]]) {} opset 23 : (tensor<4x1xi32>, tensor<i32>, tensor<i32>) -> tensor<4x1xi32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Cast"(%[[V1]]) {to = 7 : i64} opset 23 : (tensor<4x1xi32>) -> tensor<4x1xi64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "GatherElements"(%[[ARG0]], %[[V2]]) {axis = 1 : i64} opset 23 : (tensor<4x10xf32>, tensor<4x1xi64>) -> tensor<4x1xf32>
// CHECK-NEXT: return %[[V3]] : tensor<4x1xf32>
// CHECK-NEXT: }
func.func @along_axis(%x: tensor<4x10xf32>, %i: tensor<4x1x1xi32>) -> tensor<4x1xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<4x10xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// Elements at pairs of indices.

// CHECK-LABEL: func.func @elements
// CHECK-SAME: (%[[ARG0:.*]]: tensor<9x8xf32>, %[[ARG1:.*]]: tensor<5x2xi32>) -> tensor<5xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Slice"(%[[ARG1]], %[[CST]], %[[CST_0]], %[[CST_1]], %[[CST_2]]) {} opset 23 : (tensor<5x2xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5x1xi32>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<5> : tensor<1xi64>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Reshape"(%[[V0]], %[[CST_3]]) {allowzero = 1 : i64} opset 23 : (tensor<5x1xi32>, tensor<1xi64>) -> tensor<5xi32>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_5:.*]] = arith.constant dense<8> : tensor<i32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Clip"(%[[V1]], %[[CST_4]], %[[CST_5]]) {} opset 23 : (tensor<5xi32>, tensor<i32>, tensor<i32>) -> tensor<5xi32>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Cast"(%[[V2]]) {to = 7 : i64} opset 23 : (tensor<5xi32>) -> tensor<5xi64>
// CHECK-NEXT: %[[CST_6:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_7:.*]] = arith.constant dense<2> : tensor<1xi64>
// CHECK-NEXT: %[[CST_8:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[CST_9:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Slice"(%[[ARG1]], %[[CST_6]], %[[CST_7]], %[[CST_8]], %[[CST_9]]) {} opset 23 : (tensor<5x2xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5x1xi32>
// CHECK-NEXT: %[[CST_10:.*]] = arith.constant dense<5> : tensor<1xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Reshape"(%[[V4]], %[[CST_10]]) {allowzero = 1 : i64} opset 23 : (tensor<5x1xi32>, tensor<1xi64>) -> tensor<5xi32>
// CHECK-NEXT: %[[CST_11:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_12:.*]] = arith.constant dense<7> : tensor<i32>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Clip"(%[[V5]], %[[CST_11]], %[[CST_12]]) {} opset 23 : (tensor<5xi32>, tensor<i32>, tensor<i32>) -> tensor<5xi32>
// CHECK-NEXT: %[[V7:.*]] = onnx.node "Cast"(%[[V6]]) {to = 7 : i64} opset 23 : (tensor<5xi32>) -> tensor<5xi64>
// CHECK-NEXT: %[[CST_13:.*]] = arith.constant dense<[5, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V8:.*]] = onnx.node "Reshape"(%[[V3]], %[[CST_13]]) {allowzero = 1 : i64} opset 23 : (tensor<5xi64>, tensor<2xi64>) -> tensor<5x1xi64>
// CHECK-NEXT: %[[CST_14:.*]] = arith.constant dense<[5, 1]> : tensor<2xi64>
// CHECK-NEXT: %[[V9:.*]] = onnx.node "Reshape"(%[[V7]], %[[CST_14]]) {allowzero = 1 : i64} opset 23 : (tensor<5xi64>, tensor<2xi64>) -> tensor<5x1xi64>
// CHECK-NEXT: %[[V10:.*]] = onnx.node "Concat"(%[[V8]], %[[V9]]) {axis = 1 : i64} opset 23 : (tensor<5x1xi64>, tensor<5x1xi64>) -> tensor<5x2xi64>
// CHECK-NEXT: %[[V11:.*]] = onnx.node "GatherND"(%[[ARG0]], %[[V10]]) {batch_dims = 0 : i64} opset 23 : (tensor<9x8xf32>, tensor<5x2xi64>) -> tensor<5xf32>
// CHECK-NEXT: return %[[V11]] : tensor<5xf32>
// CHECK-NEXT: }
func.func @elements(%x: tensor<9x8xf32>, %i: tensor<5x2xi32>) -> tensor<5xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<9x8xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Windows of two elements: indices that count up.

// CHECK-LABEL: func.func @windows
// CHECK-SAME: (%[[ARG0:.*]]: tensor<9x8xf32>, %[[ARG1:.*]]: tensor<5x1xi32>) -> tensor<5x2x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<5> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Reshape"(%[[ARG1]], %[[CST]]) {allowzero = 1 : i64} opset 23 : (tensor<5x1xi32>, tensor<1xi64>) -> tensor<5xi32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<7> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = onnx.node "Clip"(%[[V0]], %[[CST_0]], %[[CST_1]]) {} opset 23 : (tensor<5xi32>, tensor<i32>, tensor<i32>) -> tensor<5xi32>
// CHECK-NEXT: %[[V2:.*]] = onnx.node "Cast"(%[[V1]]) {to = 7 : i64} opset 23 : (tensor<5xi32>) -> tensor<5xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<[5, 1, 1]> : tensor<3xi64>
// CHECK-NEXT: %[[V3:.*]] = onnx.node "Reshape"(%[[V2]], %[[CST_2]]) {allowzero = 1 : i64} opset 23 : (tensor<5xi64>, tensor<3xi64>) -> tensor<5x1x1xi64>
// CHECK-NEXT: %[[CST_3:.*]] = arith.constant dense<{{\[\[}}[0], [1]]]> : tensor<1x2x1xi64>
// CHECK-NEXT: %[[V4:.*]] = onnx.node "Add"(%[[V3]], %[[CST_3]]) {} opset 23 : (tensor<5x1x1xi64>, tensor<1x2x1xi64>) -> tensor<5x2x1xi64>
// CHECK-NEXT: %[[CST_4:.*]] = arith.constant dense<[5, 2]> : tensor<2xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.node "Reshape"(%[[V4]], %[[CST_4]]) {allowzero = 1 : i64} opset 23 : (tensor<5x2x1xi64>, tensor<2xi64>) -> tensor<5x2xi64>
// CHECK-NEXT: %[[V6:.*]] = onnx.node "Gather"(%[[ARG0]], %[[V5]]) {axis = 0 : i64} opset 23 : (tensor<9x8xf32>, tensor<5x2xi64>) -> tensor<5x2x8xf32>
// CHECK-NEXT: return %[[V6]] : tensor<5x2x8xf32>
// CHECK-NEXT: }
func.func @windows(%x: tensor<9x8xf32>, %i: tensor<5x1xi32>) -> tensor<5x2x8xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 8>, indices_are_sorted = false}> : (tensor<9x8xf32>, tensor<5x1xi32>) -> tensor<5x2x8xf32>
  return %0 : tensor<5x2x8xf32>
}
