// RUN: zero-opt %s --zero-clone-host-kernels=target-cpu=x86-64-v3 | FileCheck %s --check-prefix=CLONE
// RUN: zero-opt %s '--pass-pipeline=builtin.module(zero-clone-host-kernels,func.func(zero-fuse-kernels{for-gpu}),zero-bufferize-kernels{for-gpu},func.func(zero-collapse-loops,zero-choose-threads,zero-launch-kernels))' | FileCheck %s --check-prefix=CODE

// In a program for GPUs each native kernel has a clone for the host. A library call has none.
// CLONE: module attributes {{{.*}}zero.target_cpu = #zero.cpu<
// CLONE: func.func private @scale(
// CLONE-NOT: zero.host_kernel
// CLONE: func.func private @scale_host({{.*}}zero.host_kernel
// CLONE: func.func private @product(
// CLONE-NOT: @product_host

// The kernel becomes a launch of threads, the clone a loop over a range that the host's threads
// share.
// CODE: func.func private @scale(
// CODE: gpu.launch
// CODE: func.func private @scale_host(%{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32>{{.*}}, %[[BEGIN:.*]]: index, %[[END:.*]]: index) attributes {{{.*}}zero.extent = 64
// CODE-NOT: gpu.launch
// CODE: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
module attributes {zero.device = "cuda"} {
  func.func private @scale(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
    %two = arith.constant 2.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%u: f32, %o: f32):
      %m = arith.mulf %u, %two : f32
      linalg.yield %m : f32
    } -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
  func.func private @product(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> attributes {zero.kernel, zero.library = #zero.library<#zero.matmul<m = 4, n = 16, k = 8, batch = [], a_strides = [8, 1], b_strides = [16, 1], c_strides = [16, 1], alpha = 1.0 : f32>>} {
    %e = tensor.empty() : tensor<4x16xf32>
    return %e : tensor<4x16xf32>
  }
}
