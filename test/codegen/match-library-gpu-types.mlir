// RUN: zero-opt %s --zero-match-library=device=cuda --split-input-file | FileCheck %s

// cuBLASLt multiplies operands of one type. Where the result has 16 bits, an f32 operand is rounded
// before the launch, by a kernel of its own.

// CHECK-LABEL: func.func private @narrow
// CHECK-SAME: (%{{.*}}: tensor<4x8xbf16>, %{{.*}}: tensor<8x16xbf16>) -> tensor<4x16xbf16>
// CHECK-SAME: stored = [bf16, bf16, bf16], operands = bf16>
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x16xbf16>)
// CHECK: %[[R:.*]] = zero.launch @cast(%[[A]]) {zero.name = "fc"}
// CHECK: zero.launch @narrow(%[[R]], %[[B]])
// CHECK-LABEL: func.func private @cast(%{{.*}}: tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-SAME: zero.bytes = 192 : i64, zero.flops = 0 : i64, zero.kernel
// CHECK: arith.truncf
func.func private @narrow(%a: tensor<4x8xf32>, %b: tensor<8x16xbf16>) -> tensor<4x16xbf16> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %eb = tensor.empty() : tensor<8x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %wb = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8x16xbf16>) outs(%eb : tensor<8x16xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %x = arith.extf %u : bf16 to f32
    linalg.yield %x : f32
  } -> tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = linalg.matmul ins(%a, %wb : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %er = tensor.empty() : tensor<4x16xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x16xf32>) outs(%er : tensor<4x16xbf16>) {
  ^bb0(%u: f32, %o: bf16):
    %x = arith.truncf %u : f32 to bf16
    linalg.yield %x : bf16
  } -> tensor<4x16xbf16>
  return %y : tensor<4x16xbf16>
}
func.func @step(%a: tensor<4x8xf32>, %b: tensor<8x16xbf16>) -> tensor<4x16xbf16> {
  %y = zero.launch @narrow(%a, %b) {zero.name = "fc"} : (tensor<4x8xf32>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
  return %y : tensor<4x16xbf16>
}

// -----

// Where the result is f32, 16-bit operands are extended: nothing is rounded.

// CHECK-LABEL: func.func private @wide
// CHECK-SAME: (%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x16xf32>) -> tensor<4x16xf32>
// CHECK-SAME: c_strides = [16, 1], alpha = 1.000000e+00 : f32>>
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x16xbf16>)
// CHECK: %[[W:.*]] = zero.launch @cast(%[[B]])
// CHECK: zero.launch @wide(%[[A]], %[[W]])
// CHECK-LABEL: func.func private @cast(%{{.*}}: tensor<8x16xbf16>) -> tensor<8x16xf32>
func.func private @wide(%a: tensor<4x8xf32>, %b: tensor<8x16xbf16>) -> tensor<4x16xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %eb = tensor.empty() : tensor<8x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %wb = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8x16xbf16>) outs(%eb : tensor<8x16xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %x = arith.extf %u : bf16 to f32
    linalg.yield %x : f32
  } -> tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = linalg.matmul ins(%a, %wb : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %p : tensor<4x16xf32>
}
func.func @step(%a: tensor<4x8xf32>, %b: tensor<8x16xbf16>) -> tensor<4x16xf32> {
  %y = zero.launch @wide(%a, %b) : (tensor<4x8xf32>, tensor<8x16xbf16>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
