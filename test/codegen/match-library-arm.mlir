// RUN: zero-opt %s --zero-form-kernels --zero-annotate-costs --zero-match-library=target-cpu=aarch64:bf16,fp16 | FileCheck %s --check-prefixes=CHECK,CHOSEN
// RUN: zero-opt %s --zero-form-kernels --zero-annotate-costs --zero-match-library=target-cpu=neoverse-v1 | FileCheck %s --check-prefixes=CHECK,CORE

// The features of a target are LLVM's, in one order.
// CHOSEN: zero.target_cpu = #zero.cpu<level = "aarch64", features = "fullfp16 bf16">
// CORE: zero.target_cpu = #zero.cpu<level = "aarch64", features = "fullfp16 bf16 dotprod i8mm sve">

// The library for ARM computes in f32, with exactly this scratch on all processors. bf16 is
// converted, also for a processor that can multiply it.
// CHECK-LABEL: func.func private @k0_conv(
// CHECK-SAME: zero.library = #zero.library<#zero.convolution<
// CHECK-SAME: zero.workspace = 
// CHECK-LABEL: func.func private @k1_matmul(
// CHECK-SAME: zero.library = #zero.library<#zero.matmul<{{.*}}>>
// CHECK-SAME: zero.workspace =
// CHECK-LABEL: func.func private @k2_matmul(
// CHECK-SAME: stored = [bf16, bf16, bf16]>
func.func @step(%x: tensor<2x4x4x4xf32>, %w: tensor<8x4x3x3xf32>, %a: tensor<64x32xf32>, %b: tensor<32x16xf32>, %c: tensor<64x32xbf16>, %d: tensor<32x16xbf16>) -> (tensor<2x8x4x4xf32>, tensor<64x16xf32>, tensor<64x16xbf16>) {
  %y = onnx.node "Conv"(%x, %w) {pads = array<i64: 1, 1, 1, 1>} opset 18 node "n" : (tensor<2x4x4x4xf32>, tensor<8x4x3x3xf32>) -> tensor<2x8x4x4xf32>
  %p = onnx.node "MatMul"(%a, %b) {} opset 18 node "p" : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %q = onnx.node "MatMul"(%c, %d) {} opset 18 node "q" : (tensor<64x32xbf16>, tensor<32x16xbf16>) -> tensor<64x16xbf16>
  return %y, %p, %q : tensor<2x8x4x4xf32>, tensor<64x16xf32>, tensor<64x16xbf16>
}
