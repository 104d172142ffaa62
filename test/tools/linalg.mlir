// A program that no ONNX exporter wrote: ten lines of linalg.
// RUN: zero-opt %s --zero-stage=3 --ranks=4 | FileCheck %s
// RUN: zero-opt %s --zero-stage=0 --ranks=4 | FileCheck %s --check-prefix=STAGE0
// RUN: zero-opt %s --zero-stage=3 --ranks=4 --zero-phase-pack | FileCheck %s --check-prefix=PACK

// Ops of linalg become nodes, and then kernels; test/execute/linalg.test runs them.
// RUN: zeroc %s --zero-stage=3 --ranks=4 -o %t.zexe | FileCheck %s --check-prefix=PLAN
// PLAN: ZeRO stage 3 on 4 ranks, 128 parameters

// CHECK: zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]] = zero.all_gather
// CHECK: %[[W:.*]] = zero.member %[[F]] at 0 : (tensor<256xf32>) -> tensor<16x8xf32>
// CHECK: %[[Y:.*]] = zero.launch @{{.*}}matmul(%{{.*}}, %[[W]])
// CHECK: %[[LOSS:.*]] = zero.launch @{{.*}}reducesum(%[[Y]])
// The sum of the loss over ranks is the mean of what each rank has, divided by its share.
// CHECK: %[[SUM:.*]] = zero.launch @{{.*}}div(%[[LOSS]], %{{.*}})
// CHECK: %[[DW:.*]] = zero.launch
// CHECK: zero.reduce_scatter
// CHECK: zero.all_reduce %[[SUM]] mean
// CHECK: zero.launch @update(
// STAGE0-NOT: zero.all_gather
// STAGE0: zero.all_reduce %{{.*}} {zero.name = "bucket0.gradient"} : tensor<256xf32>
// PACK: zero.certificate
zero.parameter @w : tensor<16x8xf32> {splat = 0.5}
func.func @step(%x: tensor<4x16xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<16x8xf32>
  %y0 = arith.constant dense<0.0> : tensor<4x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>) outs(%y0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %l0 = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%y : tensor<4x8xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  %dy = arith.constant dense<0.25> : tensor<4x8xf32>
  %t0 = tensor.empty() : tensor<16x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x16xf32>) outs(%t0 : tensor<16x4xf32>) permutation = [1, 0]
  %dw0 = arith.constant dense<0.0> : tensor<16x8xf32>
  %dw = linalg.matmul ins(%t, %dy : tensor<16x4xf32>, tensor<4x8xf32>) outs(%dw0 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %g = zero.gradient @w, %dw : tensor<16x8xf32> -> tensor<16x8xf32>
  return %loss : tensor<f32>
}
