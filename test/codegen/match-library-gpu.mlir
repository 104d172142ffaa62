// RUN: zero-opt %s --zero-match-library=device=cuda | FileCheck %s

// On a GPU only matrix products are library calls. All have the same workspace, and B is not
// reordered. Other ops that a CPU library supports are compiled.

// CHECK: module attributes {zero.device = "cuda"}
// CHECK-NOT: zero.threads

// CHECK-LABEL: func.func private @product
// CHECK-SAME: zero.library = #zero.library<#zero.matmul<m = 2048, n = 512,
// CHECK-NOT: reorder_b
// CHECK-SAME: zero.workspace = 33554432 : i64
func.func private @product(%a: tensor<2048x512xf32>, %b: tensor<512x512xf32>) -> tensor<2048x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x512xf32>) -> tensor<2048x512xf32>
  %y = linalg.matmul ins(%a, %b : tensor<2048x512xf32>, tensor<512x512xf32>) outs(%f : tensor<2048x512xf32>) -> tensor<2048x512xf32>
  return %y : tensor<2048x512xf32>
}

// Operands in 16 bits are marked, as on the CPU.

// CHECK-LABEL: func.func private @half
// CHECK-SAME: stored = [bf16, bf16, bf16], operands = bf16>
// CHECK-SAME: zero.workspace = 33554432 : i64
func.func private @half(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>) -> tensor<4x16xbf16> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<8x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %wa = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xbf16>) outs(%ea : tensor<4x8xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %x = arith.extf %u : bf16 to f32
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  %wb = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8x16xbf16>) outs(%eb : tensor<8x16xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %x = arith.extf %u : bf16 to f32
    linalg.yield %x : f32
  } -> tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = linalg.matmul ins(%wa, %wb : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %er = tensor.empty() : tensor<4x16xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x16xf32>) outs(%er : tensor<4x16xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %x = arith.truncf %u : f32 to bf16
    linalg.yield %x : bf16
  } -> tensor<4x16xbf16>
  return %y : tensor<4x16xbf16>
}

// An operator that offers a call of the CPU library is compiled, and the offer is removed.

// CHECK-LABEL: func.func private @offered
// CHECK-NOT: zero.call
// CHECK-NOT: zero.library
// CHECK: linalg.generic
func.func private @offered(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel, zero.call = #zero.convolution<direction = forward, batch = 1, groups = 1, in_channels = 1, out_channels = 1, input = [4], output = [4], kernel = [1], strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]>} {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.addf %u, %u : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
