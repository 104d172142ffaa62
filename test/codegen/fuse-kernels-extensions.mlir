// RUN: zero-opt %s --zero-fuse-kernels | FileCheck %s

// The kernel itself computes the extended value in 16 bits: one loop.
#i = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func private @masked
// CHECK: scf.for
// CHECK:   %[[S:.*]] = arith.select
// CHECK:   %[[W:.*]] = arith.extf %[[S]] : bf16 to f32
// CHECK:   arith.mulf %[[W]], %[[W]]
// CHECK: return
// CHECK-NOT: scf.for
func.func private @masked(%m: tensor<64xi1>, %x: tensor<64xbf16>) -> tensor<64xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : bf16
  %en = tensor.empty() : tensor<64xbf16>
  %e = tensor.empty() : tensor<64xf32>
  %kept = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%m, %x : tensor<64xi1>, tensor<64xbf16>) outs(%en : tensor<64xbf16>) {
  ^bb0(%b: i1, %a: bf16, %o: bf16):
    %s = arith.select %b, %a, %zero : bf16
    linalg.yield %s : bf16
  } -> tensor<64xbf16>
  %wide = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%kept : tensor<64xbf16>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %square = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%wide : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %square : tensor<64xf32>
}
