// RUN: zero-opt %s --zero-match-library | FileCheck %s
// The workspace that the library needs depends on the processor.
// RUN: %if avx512 %{ zero-opt %s --zero-match-library | FileCheck %s --check-prefix=AVX512 %}

// The projection of a transformer: leading dimensions become rows, the weight is read transposed,
// and the bias is fused.

// CHECK-LABEL: func.func private @projection
// CHECK-SAME: zero.library = #zero.library<#zero.matmul<m = 32, n = 24, k = 16, batch = [], a_strides = [16, 1], b_strides = [1, 16], c_strides = [24, 1], alpha = 1.000000e+00 : f32, bias = true>>
func.func private @projection(%x: tensor<4x8x16xf32>, %w: tensor<24x16xf32>, %b: tensor<24xf32>) -> tensor<4x8x24xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<16x24xf32>
  %wt = linalg.transpose ins(%w : tensor<24x16xf32>) outs(%et : tensor<16x24xf32>) permutation = [1, 0]
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x8x16xf32> into tensor<32x16xf32>
  %e = tensor.empty() : tensor<32x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.matmul ins(%flat, %wt : tensor<32x16xf32>, tensor<16x24xf32>) outs(%f : tensor<32x24xf32>) -> tensor<32x24xf32>
  %q = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 8, 24] : tensor<32x24xf32> into tensor<4x8x24xf32>
  %eq = tensor.empty() : tensor<4x8x24xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %b : tensor<4x8x24xf32>, tensor<24xf32>) outs(%eq : tensor<4x8x24xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x8x24xf32>
  return %y : tensor<4x8x24xf32>
}

// Heads inside a fused projection: the transposes become strides, and a scale becomes alpha.

// CHECK-LABEL: func.func private @scores
// CHECK-SAME: zero.library = #zero.library<#zero.matmul<m = 8, n = 8, k = 8, batch = [2, 4], a_strides = [256, 8, 32, 1], b_strides = [256, 8, 1, 32], c_strides = [256, 64, 8, 1], alpha = 2.500000e-01 : f32>>
func.func private @scores(%q: tensor<2x8x4x8xf32>, %k: tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, i, h, d)>, affine_map<(b, h, i, j, d) -> (b, j, h, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) outs(%f : tensor<2x4x8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<2x4x8x8xf32>) outs(%e : tensor<2x4x8x8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %c = arith.constant 0.25 : f32
    %s = arith.mulf %u, %c : f32
    linalg.yield %s : f32
  } -> tensor<2x4x8x8xf32>
  return %y : tensor<2x4x8x8xf32>
}

// A bias that is the first argument is moved, also in the launches.

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[B:.*]]: tensor<8xf32>, %[[W:.*]]: tensor<4x8xf32>, %[[X:.*]]: tensor<2x4xf32>
// CHECK: zero.launch @bias_first(%[[X]], %[[W]], %[[B]])
func.func @step(%b: tensor<8xf32>, %w: tensor<4x8xf32>, %x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %y = zero.launch @bias_first(%b, %w, %x) : (tensor<8xf32>, tensor<4x8xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
// CHECK: func.func private @bias_first(%{{.*}}: tensor<2x4xf32>, %{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8xf32>)
func.func private @bias_first(%b: tensor<8xf32>, %w: tensor<4x8xf32>, %x: tensor<2x4xf32>) -> tensor<2x8xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%b, %p : tensor<8xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Two products that the library does not support remain native.

// CHECK-LABEL: func.func private @column_bias
// CHECK-NOT: zero.library
func.func private @column_bias(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %b: tensor<2xf32>) -> tensor<2x8xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<2x8xf32>, tensor<2xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func private @accumulates
// CHECK-NOT: zero.library
func.func private @accumulates(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %c: tensor<2x8xf32>) -> tensor<2x8xf32> attributes {zero.kernel} {
  %p = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%c : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %p : tensor<2x8xf32>
}

// Operands and result stored in 16 bits: the library converts.

// CHECK-LABEL: func.func private @stored
// CHECK-SAME: m = 8, n = 24, k = 16,{{.*}}>, stored = [bf16, f32, f16, bf16]>
func.func private @stored(%x: tensor<8x16xbf16>, %w: tensor<16x24xf32>, %b: tensor<24xf16>) -> tensor<2x4x24xbf16> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e16 = tensor.empty() : tensor<8x16xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xbf16>) outs(%e16 : tensor<8x16xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %s = arith.extf %u : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %eb = tensor.empty() : tensor<24xf32>
  %bias = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%b : tensor<24xf16>) outs(%eb : tensor<24xf32>) {
  ^bb0(%u: f16, %o: f32):
    %s = arith.extf %u : f16 to f32
    linalg.yield %s : f32
  } -> tensor<24xf32>
  %e = tensor.empty() : tensor<8x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x24xf32>) -> tensor<8x24xf32>
  %p = linalg.matmul ins(%wide, %w : tensor<8x16xf32>, tensor<16x24xf32>) outs(%f : tensor<8x24xf32>) -> tensor<8x24xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<8x24xf32>, tensor<24xf32>) outs(%e : tensor<8x24xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<8x24xf32>
  %q = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 4, 24] : tensor<8x24xf32> into tensor<2x4x24xf32>
  %en = tensor.empty() : tensor<2x4x24xbf16>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q : tensor<2x4x24xf32>) outs(%en : tensor<2x4x24xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %s = arith.truncf %u : f32 to bf16
    linalg.yield %s : bf16
  } -> tensor<2x4x24xbf16>
  return %n : tensor<2x4x24xbf16>
}

// A kernel that rounds between the product and the bias computes another function.

// CHECK-LABEL: func.func private @rounds_between
// CHECK-NOT: zero.library
func.func private @rounds_between(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %en = tensor.empty() : tensor<2x8xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x8xf32>) outs(%en : tensor<2x8xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %s = arith.truncf %u : f32 to bf16
    linalg.yield %s : bf16
  } -> tensor<2x8xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<2x8xbf16>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %s = arith.extf %u : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%b, %r : tensor<8xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// A residual is read where C is written: from a separate argument or, if C uses its buffer, from
// there.

// CHECK: func.func private @residual(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x6xf32>, %{{.*}}: tensor<6xf32>, %{{.*}}: tensor<4x6xf32>)
// CHECK-SAME: n = 6, {{.*}} bias = true, residual = true>>
func.func private @residual(%r: tensor<4x6xf32>, %x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%r, %q : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK: func.func private @in_place(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x6xf32>, %{{.*}}: tensor<4x6xf32> {zero.inplace = 0 : i64})
// CHECK-SAME: a_strides = [8, 1], {{.*}}, accumulate = true
func.func private @in_place(%r: tensor<4x6xf32> {zero.inplace = 0 : i64}, %x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// B of 512 columns is reordered first if there are enough rows, also if A is transposed as in the
// gradient of a weight.
// CHECK-LABEL: func.func private @reordered(
// CHECK-SAME: n = 512, {{.*}}, reorder_b = true>>
// AVX512-LABEL: func.func private @reordered(
// AVX512-SAME: zero.workspace
func.func private @reordered(%x: tensor<1024x64xf32>, %w: tensor<64x512xf32>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1024x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

// CHECK-LABEL: func.func private @reordered_gradient(
// CHECK-SAME: n = 512, {{.*}}, reorder_b = true>>
func.func private @reordered_gradient(%x: tensor<64x1024xf32>, %w: tensor<64x512xf32>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %t = tensor.empty() : tensor<1024x64xf32>
  %a = linalg.transpose ins(%x : tensor<64x1024xf32>) outs(%t : tensor<1024x64xf32>) permutation = [1, 0]
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%a, %w : tensor<1024x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

// For these columns oneDNN never copies B. If B is deep, fewer rows suffice.
// CHECK-LABEL: func.func private @deep(
// CHECK-SAME: n = 768, {{.*}}, reorder_b = true>>
func.func private @deep(%x: tensor<512x2048xf32>, %w: tensor<2048x768xf32>) -> tensor<512x768xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
  %p = linalg.matmul ins(%x, %w : tensor<512x2048xf32>, tensor<2048x768xf32>) outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %p : tensor<512x768xf32>
}

// With one row or term less, other columns, B of more than 16 MiB, a transposed B, or 16 bits, B is
// not reordered.
// CHECK-LABEL: func.func private @few_rows_of_deep(
// CHECK-SAME: n = 768, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @few_rows_of_deep(%x: tensor<511x2048xf32>, %w: tensor<2048x768xf32>) -> tensor<511x768xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<511x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<511x768xf32>) -> tensor<511x768xf32>
  %p = linalg.matmul ins(%x, %w : tensor<511x2048xf32>, tensor<2048x768xf32>) outs(%f : tensor<511x768xf32>) -> tensor<511x768xf32>
  return %p : tensor<511x768xf32>
}

// CHECK-LABEL: func.func private @not_deep(
// CHECK-SAME: n = 768, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @not_deep(%x: tensor<512x2047xf32>, %w: tensor<2047x768xf32>) -> tensor<512x768xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
  %p = linalg.matmul ins(%x, %w : tensor<512x2047xf32>, tensor<2047x768xf32>) outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %p : tensor<512x768xf32>
}

// CHECK-LABEL: func.func private @large(
// CHECK-SAME: n = 512, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @large(%x: tensor<1024x8193xf32>, %w: tensor<8193x512xf32>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1024x8193xf32>, tensor<8193x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

// CHECK-LABEL: func.func private @narrow(
// CHECK-SAME: n = 255, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @narrow(%x: tensor<1024x2048xf32>, %w: tensor<2048x255xf32>) -> tensor<1024x255xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x255xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x255xf32>) -> tensor<1024x255xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1024x2048xf32>, tensor<2048x255xf32>) outs(%f : tensor<1024x255xf32>) -> tensor<1024x255xf32>
  return %p : tensor<1024x255xf32>
}

// CHECK-LABEL: func.func private @few_rows(
// CHECK-SAME: n = 512, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @few_rows(%x: tensor<1023x64xf32>, %w: tensor<64x512xf32>) -> tensor<1023x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1023x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1023x512xf32>) -> tensor<1023x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1023x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1023x512xf32>) -> tensor<1023x512xf32>
  return %p : tensor<1023x512xf32>
}

// CHECK-LABEL: func.func private @other_columns(
// CHECK-SAME: n = 768, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @other_columns(%x: tensor<1024x64xf32>, %w: tensor<64x768xf32>) -> tensor<1024x768xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1024x64xf32>, tensor<64x768xf32>) outs(%f : tensor<1024x768xf32>) -> tensor<1024x768xf32>
  return %p : tensor<1024x768xf32>
}

// CHECK-LABEL: func.func private @transposed(
// CHECK-SAME: n = 512, {{.*}}alpha = 1.000000e+00 : f32>>
func.func private @transposed(%x: tensor<1024x64xf32>, %w: tensor<512x64xf32>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %t = tensor.empty() : tensor<64x512xf32>
  %b = linalg.transpose ins(%w : tensor<512x64xf32>) outs(%t : tensor<64x512xf32>) permutation = [1, 0]
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%x, %b : tensor<1024x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

// CHECK-LABEL: func.func private @halves(
// CHECK-SAME: n = 512, {{.*}}alpha = 1.000000e+00 : f32>, stored = [bf16, f32, f32]>
func.func private @halves(%x: tensor<1024x64xbf16>, %w: tensor<64x512xf32>) -> tensor<1024x512xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<1024x64xf32>
  %e = tensor.empty() : tensor<1024x512xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x64xbf16>) outs(%t : tensor<1024x64xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %v = arith.extf %u : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<1024x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %p = linalg.matmul ins(%a, %w : tensor<1024x64xf32>, tensor<64x512xf32>) outs(%f : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %p : tensor<1024x512xf32>
}

// Products of vectors that are a batch apart are loops along the batch.

// CHECK-LABEL: func.func private @interleaved
// CHECK-NOT: zero.library
// CHECK: linalg.generic
func.func private @interleaved(%a: tensor<2x3x40xf32>, %b: tensor<3x40xf32>) -> tensor<2x40xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x40xf32>) -> tensor<2x40xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, x, i) -> (b, i, x)>, affine_map<(b, x, i) -> (i, x)>, affine_map<(b, x, i) -> (b, x)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<2x3x40xf32>, tensor<3x40xf32>) outs(%f : tensor<2x40xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x40xf32>
  return %p : tensor<2x40xf32>
}
