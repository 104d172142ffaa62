// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// What follows from constants is a constant: here an index, -1 counted from the end of 4.

// CHECK-LABEL: func.func @negative_index
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4x8xf32>) -> tensor<1x8xf32> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<3> : tensor<1xi64>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<4> : tensor<1xi64>
// CHECK-NEXT: %[[CST_1:.*]] = arith.constant dense<0> : tensor<1xi64>
// CHECK-NEXT: %[[CST_2:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Slice"(%[[ARG0]], %[[CST]], %[[CST_0]], %[[CST_1]], %[[CST_2]]) {} opset 23 : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8xf32>
// CHECK-NEXT: return %[[V0]] : tensor<1x8xf32>
// CHECK-NEXT: }
func.func @negative_index(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %index = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %extent = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %negative = "stablehlo.compare"(%index, %zero) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %sum = "stablehlo.add"(%index, %extent) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %at = "stablehlo.select"(%negative, %sum, %index) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %0 = "stablehlo.dynamic_slice"(%x, %at, %zero) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// Integers wrap around.

// CHECK-LABEL: func.func @wraps
// CHECK-SAME: () -> tensor<2xi8> {
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[-56, 56]> : tensor<2xi8>
// CHECK-NEXT: return %[[CST]] : tensor<2xi8>
// CHECK-NEXT: }
func.func @wraps() -> tensor<2xi8> {
  %0 = "stablehlo.constant"() <{value = dense<[100, -100]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %1 = "stablehlo.add"(%0, %0) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %1 : tensor<2xi8>
}

// The square of a gradient's imaginary part, as optax.global_norm computes it. A sum of squares
// remains, which updates may read.

// CHECK-LABEL: func.func @complex_square
// CHECK-SAME: (%[[ARG0:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Mul"(%[[ARG0]], %[[ARG0]])
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @complex_square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %imaginary = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %0 = "chlo.square"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "chlo.square"(%imaginary) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Equal elements are known in any number.

// CHECK-LABEL: func.func @large_splat
// CHECK-SAME: (%[[ARG0:.*]]: tensor<512x512xf32>) -> tensor<512x512xf32> {
// CHECK-NEXT: %[[V0:.*]] = onnx.node "Mul"(%[[ARG0]], %[[ARG0]])
// CHECK-NEXT: return %[[V0]] : tensor<512x512xf32>
func.func @large_splat(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %wide = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1024x512xf32>
  %imaginary = "stablehlo.slice"(%wide) <{start_indices = array<i64: 512, 0>, limit_indices = array<i64: 1024, 512>, strides = array<i64: 1, 1>}> : (tensor<1024x512xf32>) -> tensor<512x512xf32>
  %0 = "chlo.square"(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = "chlo.square"(%imaginary) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = "stablehlo.add"(%0, %1) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}

// A division by zero gives all ones, and a remainder the dividend.

// CHECK-LABEL: func.func @by_zero
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<-1> : tensor<i32>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<7> : tensor<i32>
// CHECK-NEXT: return %[[CST]], %[[CST_0]]
func.func @by_zero() -> (tensor<i32>, tensor<i32>) {
  %x = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.divide"(%x, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = "stablehlo.remainder"(%x, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}

// Shifts move in the sign or zeros, whatever the sign of the type is; a distance of the width or
// more leaves nothing else.

// CHECK-LABEL: func.func @shifts
// CHECK-NEXT: %[[CST:.*]] = arith.constant dense<[-4, -1]> : tensor<2xi8>
// CHECK-NEXT: %[[CST_0:.*]] = arith.constant dense<[124, 0]> : tensor<2xi8>
// CHECK-NEXT: return %[[CST]], %[[CST_0]]
func.func @shifts() -> (tensor<2xi8>, tensor<2xi8>) {
  %x = "stablehlo.constant"() <{value = dense<-8> : tensor<2xi8>}> : () -> tensor<2xi8>
  %distance = "stablehlo.constant"() <{value = dense<[1, 8]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %0 = "stablehlo.shift_right_arithmetic"(%x, %distance) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  %1 = "stablehlo.shift_right_logical"(%x, %distance) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1 : tensor<2xi8>, tensor<2xi8>
}
