// An op of linalg or tensor that no node stands for becomes a kernel of its own. Constants and the
// tensor that it is computed into are part of the kernel.
// RUN: zero-opt %s --split-input-file --zero-form-kernels | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[S:.*]] = zero.launch @[[K:k0_generic]](%[[X]])
// CHECK-NEXT: return %[[S]]
// CHECK: func.func private @[[K]](%[[A:.*]]: tensor<4x8xf32>) -> tensor<4xf32> attributes {zero.kernel}
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[HALF:.*]] = arith.constant 5.0
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]]
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<4x8xf32>) outs(%[[F]]
#map = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @step(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.mulf %in, %half : f32
    %b = arith.addf %a, %out : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// Scalars are computed in the kernel that reads them.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: zero.launch @[[K:k0_splat]](%arg0)
// CHECK: func.func private @[[K]]
// CHECK: %[[S:.*]] = tensor.extract
// CHECK: tensor.splat %[[S]]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %i = arith.constant 0 : index
  %s = tensor.extract %x[%i] : tensor<4xf32>
  %y = tensor.splat %s : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A filled tensor that others read, too, is a kernel itself.
// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]] = zero.launch @k0_fill()
// CHECK: %[[C:.*]] = zero.launch @k1_copy(%{{.*}})
// CHECK: return %[[F]], %[[C]]
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.copy ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %f, %c : tensor<4xf32>, tensor<4xf32>
}
