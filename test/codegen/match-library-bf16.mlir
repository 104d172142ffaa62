// RUN: zero-opt %s --zero-match-library=target-cpu=znver4 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: zero-opt %s --zero-match-library=target-cpu=sapphirerapids | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: zero-opt %s --zero-match-library=target-cpu=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: zero-opt %s --zero-match-library=target-cpu=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,V3
// RUN: not zero-opt %s --zero-match-library=target-cpu=i486 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not zero-opt %s --zero-match-library=target-cpu=nehalem 2>&1 | FileCheck %s --check-prefix=OLD

// UNKNOWN: error: target-cpu: expected native, a level such as x86-64-v3, aarch64[:fp16,bf16,dotprod,i8mm,sve], or a processor such as znver4 or cortex-a76, got 'i486'
// OLD: error: target-cpu: expected a processor with the features of x86-64-v3, got 'nehalem'

// BF16: zero.target_cpu = #zero.cpu<level = "x86-64-v4", features = "avx512bf16">
// F32: zero.target_cpu = #zero.cpu<level = "x86-64-v4">
// V3: zero.target_cpu = #zero.cpu<level = "x86-64-v3">

#map = affine_map<(a, b) -> (a, b)>

// Both factors are bf16, so a processor that multiplies bf16 does so.

// CHECK-LABEL: func.func private @halves
// BF16-SAME: stored = [bf16, bf16, f32], operands = bf16>
// F32-SAME: stored = [bf16, bf16, f32]>
// V3-SAME: stored = [bf16, bf16, f32]>
func.func private @halves(%x: tensor<1024x64xbf16>, %w: tensor<64x512xbf16>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %ex = tensor.empty() : tensor<1024x64xf32>
  %ew = tensor.empty() : tensor<64x512xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x64xbf16>) outs(%ex : tensor<1024x64xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %v = arith.extf %u : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<1024x64xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x512xbf16>) outs(%ew : tensor<64x512xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %v = arith.extf %u : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<64x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<1024x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

// One factor is f32: both are multiplied in f32.

// CHECK-LABEL: func.func private @one
// CHECK-SAME: stored = [bf16, f32, f32]>
func.func private @one(%x: tensor<1024x64xbf16>, %w: tensor<64x512xf32>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %ex = tensor.empty() : tensor<1024x64xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x64xbf16>) outs(%ex : tensor<1024x64xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %v = arith.extf %u : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<1024x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%a, %w : tensor<1024x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}
