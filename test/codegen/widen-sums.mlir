// RUN: zero-opt %s --zero-widen-sums | FileCheck %s

// A sum of columns of 4096 rows: the terms become doubles, and the result a float once. It starts
// from a tensor, which is added at the end.

// CHECK-LABEL: func.func private @columns
// CHECK-SAME: %[[X:.*]]: tensor<4096x768xf32>, %[[START:.*]]: tensor<768xf32>
// CHECK: %[[NONE:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[NONE]] : f64) {{.*}} -> tensor<768xf64>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
// CHECK-SAME: ins(%[[X]] : tensor<4096x768xf32>) outs(%[[FILL]] : tensor<768xf64>)
// CHECK-NEXT: ^bb0(%[[TERM:.*]]: f32, %[[OLD:.*]]: f64):
// CHECK-NEXT:   %[[SQUARE:.*]] = arith.mulf %[[TERM]], %[[TERM]] : f32
// CHECK-NEXT:   %[[WIDE:.*]] = arith.extf %[[SQUARE]] : f32 to f64
// CHECK-NEXT:   %[[NEW:.*]] = arith.addf %[[OLD]], %[[WIDE]] fastmath<reassoc> : f64
// CHECK-NEXT:   linalg.yield %[[NEW]] : f64
// CHECK: %[[RESULT:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK-SAME: ins(%[[SUM]] : tensor<768xf64>) outs(%[[START]] : tensor<768xf32>)
// CHECK-NEXT: ^bb0(%[[ALL:.*]]: f64, %[[FROM:.*]]: f32):
// CHECK-NEXT:   %[[FROMWIDE:.*]] = arith.extf %[[FROM]] : f32 to f64
// CHECK-NEXT:   %[[TOTAL:.*]] = arith.addf %[[FROMWIDE]], %[[ALL]] fastmath<reassoc> : f64
// CHECK-NEXT:   %[[NARROW:.*]] = arith.truncf %[[TOTAL]] : f64 to f32
// CHECK-NEXT:   linalg.yield %[[NARROW]] : f32
// CHECK: return %[[RESULT]] : tensor<768xf32>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
func.func private @columns(%x: tensor<4096x768xf32>, %start: tensor<768xf32>) -> tensor<768xf32> attributes {zero.kernel} {
  %0 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<4096x768xf32>) outs(%start : tensor<768xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %r = arith.addf %s, %q fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<768xf32>
  return %0 : tensor<768xf32>
}

// A product starts from 1.

// CHECK-LABEL: func.func private @product
// CHECK: arith.constant 1.000000e+00 : f64
// CHECK: arith.mulf {{.*}} : f64
func.func private @product(%x: tensor<2048xf32>, %start: tensor<f32>) -> tensor<f32> attributes {zero.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<2048xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.mulf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// Rows of 8 elements have 8 accumulators: 4096 terms are too many for them.

// CHECK-LABEL: func.func private @narrow_rows
// CHECK: arith.addf {{.*}} : f64
func.func private @narrow_rows(%x: tensor<512x8xf32>, %start: tensor<f32>) -> tensor<f32> attributes {zero.kernel} {
  %0 = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<512x8xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// A window of 112 x 112 pixels, the mean of an image.

// CHECK-LABEL: func.func private @window
// CHECK: arith.addf {{.*}} : f64
func.func private @window(%x: tensor<4x112x112xf32>, %extents: tensor<112x112xf32>, %start: tensor<4x1x1xf32>) -> tensor<4x1x1xf32> attributes {zero.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(c, h, w, y, x) -> (c, h + y, w + x)>, affine_map<(c, h, w, y, x) -> (y, x)>, affine_map<(c, h, w, y, x) -> (c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %extents : tensor<4x112x112xf32>, tensor<112x112xf32>) outs(%start : tensor<4x1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<4x1x1xf32>
  return %0 : tensor<4x1x1xf32>
}

// These stay: rows of 1024 elements, columns of 64, a maximum, and a contraction.

// CHECK-LABEL: func.func private @short
// CHECK-NOT: f64
func.func private @short(%x: tensor<64x1024xf32>, %y: tensor<1024x16xf32>, %rows: tensor<64xf32>, %columns: tensor<1024xf32>, %all: tensor<f32>, %product: tensor<64x16xf32>)
    -> (tensor<64xf32>, tensor<1024xf32>, tensor<f32>, tensor<64x16xf32>) attributes {zero.kernel} {
  %0 = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%rows : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<64x1024xf32>) outs(%columns : tensor<1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<1024xf32>
  %2 = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<64x1024xf32>) outs(%all : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.maximumf %s, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<64x1024xf32>, tensor<1024x16xf32>) outs(%product : tensor<64x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %q = arith.mulf %a, %b : f32
    %r = arith.addf %s, %q fastmath<reassoc> : f32
    linalg.yield %r : f32
  } -> tensor<64x16xf32>
  return %0, %1, %2, %3 : tensor<64xf32>, tensor<1024xf32>, tensor<f32>, tensor<64x16xf32>
}
