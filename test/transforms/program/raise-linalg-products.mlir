// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// A sum of products is a MatMul of transposed operands where it has one dimension of sums, else an
// Einsum. What it is added to is added afterwards.

// CHECK-LABEL: func.func @named
// CHECK: %[[A:.*]] = onnx.node "MatMul"(%arg0, %arg1) {} {{.*}} -> tensor<3x5xf32>
// CHECK: %[[B:.*]] = onnx.node "MatMul"(%arg0, %arg1)
// CHECK: %[[C:.*]] = onnx.node "Add"(%[[A]], %[[B]])
// CHECK: onnx.node "MatMul"(%arg0, %arg2) {} {{.*}} -> tensor<3xf32>
// CHECK: onnx.node "MatMul"(%arg2, %arg1) {} {{.*}} -> tensor<5xf32>
// CHECK: onnx.node "MatMul"(%arg2, %arg2) {} {{.*}} -> tensor<f32>
func.func @named(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %v: tensor<4xf32>) -> (tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%f : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %f3 = arith.constant dense<0.0> : tensor<3xf32>
  %2 = linalg.matvec ins(%a, %v : tensor<3x4xf32>, tensor<4xf32>) outs(%f3 : tensor<3xf32>) -> tensor<3xf32>
  %f5 = arith.constant dense<0.0> : tensor<5xf32>
  %3 = linalg.vecmat ins(%v, %b : tensor<4xf32>, tensor<4x5xf32>) outs(%f5 : tensor<5xf32>) -> tensor<5xf32>
  %f0 = arith.constant dense<0.0> : tensor<f32>
  %4 = linalg.dot ins(%v, %v : tensor<4xf32>, tensor<4xf32>) outs(%f0 : tensor<f32>) -> tensor<f32>
  return %1, %2, %3, %4 : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @transposed
// CHECK: %[[T:.*]] = onnx.node "Transpose"(%arg1) {perm = array<i64: 1, 0>}
// CHECK: onnx.node "MatMul"(%arg0, %[[T]])
// CHECK: %[[T1:.*]] = onnx.node "Transpose"(%arg0) {perm = array<i64: 1, 0>}
// CHECK: onnx.node "MatMul"(%arg1, %[[T1]]) {} {{.*}} -> tensor<5x3xf32>
func.func @transposed(%a: tensor<3x4xf32>, %b: tensor<5x4xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {
  %f = arith.constant dense<0.0> : tensor<3x5xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<3x4xf32>, tensor<5x4xf32>) outs(%f : tensor<3x5xf32>) -> tensor<3x5xf32>
  %g = arith.constant dense<0.0> : tensor<5x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>] ins(%a, %b : tensor<3x4xf32>, tensor<5x4xf32>) outs(%g : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: func.func @batches
// CHECK: onnx.node "MatMul"(%arg0, %arg1) {} {{.*}} -> tensor<2x3x5xf32>
// CHECK: %[[V:.*]] = onnx.node "Reshape"(%arg2, %{{.*}}) {{.*}} -> tensor<2x4x1xf32>
// CHECK: %[[P:.*]] = onnx.node "MatMul"(%arg0, %[[V]]) {} {{.*}} -> tensor<2x3x1xf32>
// CHECK: onnx.node "Reshape"(%[[P]], %{{.*}}) {{.*}} -> tensor<2x3xf32>
// CHECK: onnx.node "MatMul"(%arg0, %arg3) {} {{.*}} -> tensor<2x3x5xf32>
func.func @batches(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %v: tensor<2x4xf32>, %m: tensor<4x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x5xf32>) {
  %f = arith.constant dense<0.0> : tensor<2x3x5xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf32>, tensor<2x4x5xf32>) outs(%f : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %f2 = arith.constant dense<0.0> : tensor<2x3xf32>
  %1 = linalg.batch_matvec ins(%a, %v : tensor<2x3x4xf32>, tensor<2x4xf32>) outs(%f2 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>] ins(%a, %m : tensor<2x3x4xf32>, tensor<4x5xf32>) outs(%f : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1, %2 : tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @einsums
// CHECK: onnx.node "Einsum"(%arg0, %arg1) {equation = "acd,cbd->ab"}
// CHECK: onnx.node "Einsum"(%arg0, %arg0) {equation = "abc,abc->a"}
// CHECK: onnx.node "Einsum"(%arg2, %arg3) {equation = "acdf,bcef->abde"}
func.func @einsums(%a: tensor<2x3x4xf32>, %b: tensor<3x5x4xf32>, %p: tensor<2x3x4x2xf32>, %q: tensor<5x3x2x2xf32>) -> (tensor<2x5xf32>, tensor<2xf32>, tensor<2x5x4x2xf32>) {
  %f = arith.constant dense<0.0> : tensor<2x5xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>] ins(%a, %b : tensor<2x3x4xf32>, tensor<3x5x4xf32>) outs(%f : tensor<2x5xf32>) -> tensor<2x5xf32>
  %f1 = arith.constant dense<0.0> : tensor<2xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>] ins(%a, %a : tensor<2x3x4xf32>, tensor<2x3x4xf32>) outs(%f1 : tensor<2xf32>) -> tensor<2xf32>
  %f2 = arith.constant dense<0.0> : tensor<2x5x4x2xf32>
  %2 = linalg.mmt4d ins(%p, %q : tensor<2x3x4x2xf32>, tensor<5x3x2x2xf32>) outs(%f2 : tensor<2x5x4x2xf32>) -> tensor<2x5x4x2xf32>
  return %0, %1, %2 : tensor<2x5xf32>, tensor<2xf32>, tensor<2x5x4x2xf32>
}
