// RUN: zero-opt %s --zero-fuse-kernels=for-gpu | FileCheck %s

// Sums of rows and sums across rows are separate nests, each with its sum innermost. Both compute
// the product, which is not stored.
// CHECK-LABEL: func.func private @sums
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: scf.for %[[COLUMN:[^ ]*]] =
// CHECK: tensor.extract %arg0[%[[ROW]], %[[COLUMN]]]
// CHECK: arith.mulf
// CHECK: } {zero.loop = "sum"}
// CHECK: } {zero.loop = "parallel"}
// CHECK: scf.for %[[COLUMN:[^ ]*]] =
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK: tensor.extract %arg0[%[[ROW]], %[[COLUMN]]]
// CHECK: arith.mulf
// CHECK: } {zero.loop = "sum"}
// CHECK: } {zero.loop = "parallel"}
func.func private @sums(%x: tensor<16x8xf32>, %y: tensor<16x8xf32>)
    -> (tensor<16xf32>, tensor<8xf32>) attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<16x8xf32>, tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<16x8xf32>
  %er = tensor.empty() : tensor<16xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                          iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<16x8xf32>) outs(%fr : tensor<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %s, %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %ec = tensor.empty() : tensor<8xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<8xf32>) -> tensor<8xf32>
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                              affine_map<(i, j) -> (j)>],
                             iterator_types = ["reduction", "parallel"]}
      ins(%p : tensor<16x8xf32>) outs(%fc : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = arith.addf %s, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %rows, %columns : tensor<16xf32>, tensor<8xf32>
}
