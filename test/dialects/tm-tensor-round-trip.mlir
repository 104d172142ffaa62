// RUN: zero-opt %s | FileCheck %s
// RUN: zero-opt %s --mlir-print-op-generic | zero-opt | FileCheck %s

// The custom forms, as torch-mlir prints them.

// CHECK-LABEL: func.func @scatter
// CHECK: tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%arg0, %arg1 : tensor<6x4xf32>, tensor<6x1xi64>) outs(%arg2 : tensor<10x4xf32>) {
// CHECK: tm_tensor.yield %{{.*}} : f32
// CHECK: } -> tensor<10x4xf32>
func.func @scatter(%dy: tensor<6x4xf32>, %at: tensor<6x1xi64>, %x: tensor<10x4xf32>) -> tensor<10x4xf32> {
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%dy, %at : tensor<6x4xf32>, tensor<6x1xi64>) outs(%x : tensor<10x4xf32>) {
  ^bb0(%update: f32, %element: f32):
    %s = arith.addf %element, %update : f32
    tm_tensor.yield %s : f32
  } -> tensor<10x4xf32>
  return %r : tensor<10x4xf32>
}

// CHECK-LABEL: func.func @scan
// CHECK: tm_tensor.scan dimension(1) inclusive(true) ins(%arg0 : tensor<2x3xf32>) outs(%arg1, %arg2 : tensor<2x3xf32>, tensor<2xf32>) {
func.func @scan(%x: tensor<2x3xf32>, %f: tensor<2x3xf32>, %a: tensor<2xf32>) -> tensor<2x3xf32> {
  %r:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>) outs(%f, %a : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%element: f32, %sum: f32):
    %s = arith.addf %element, %sum : f32
    tm_tensor.yield %s : f32
  } -> tensor<2x3xf32>, tensor<2xf32>
  return %r#0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sort
// CHECK: tm_tensor.sort dimension(1) outs(%arg0, %arg1 : tensor<2x3xf32>, tensor<2x3xi64>) {
func.func @sort(%x: tensor<2x3xf32>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %r:2 = tm_tensor.sort dimension(1) outs(%x, %i : tensor<2x3xf32>, tensor<2x3xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %t = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %t : i1
  } -> tensor<2x3xf32>, tensor<2x3xi64>
  return %r#0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @topk
// CHECK: tm_tensor.topk dimension(1) ins(%arg0 : tensor<2x3xf32>) outs(%arg1, %arg2 : tensor<2x2xf32>, tensor<2x2xi32>) {
func.func @topk(%x: tensor<2x3xf32>, %v: tensor<2x2xf32>, %i: tensor<2x2xi32>) -> tensor<2x2xf32> {
  %r:2 = tm_tensor.topk dimension(1) ins(%x : tensor<2x3xf32>) outs(%v, %i : tensor<2x2xf32>, tensor<2x2xi32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %t : i1
  } -> tensor<2x2xf32>, tensor<2x2xi32>
  return %r#0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK: tm_tensor.attention ins(%arg0, %arg0, %arg0 : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) outs(%arg1 : tensor<1x4x8xf32>) {
// CHECK: } -> tensor<1x4x8xf32>
func.func @attention(%q: tensor<1x4x8xf32>, %e: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %r = tm_tensor.attention ins(%q, %q, %q : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) outs(%e : tensor<1x4x8xf32>) {
  } -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}
