// A program that no ONNX exporter wrote: ten lines of linalg.
// RUN: zero-opt %s --zero-stage=3 --ranks=4 | FileCheck %s
// RUN: zero-opt %s --zero-stage=0 --ranks=4 | FileCheck %s --check-prefix=STAGE0
// RUN: zero-opt %s --zero-stage=3 --ranks=4 --zero-phase-pack | FileCheck %s --check-prefix=PACK

// Only a plan is possible: no kernel is formed from ops outside of the op table.
// RUN: rm -f %t.zexe
// RUN: zeroc %s --zero-stage=3 --ranks=4 --plan-only | FileCheck %s --check-prefix=PLAN
// RUN: not zeroc %s --zero-stage=3 --ranks=4 -o %t.zexe 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ls %t.zexe
// PLAN: ZeRO stage 3 on 4 ranks, 128 parameters
// REFUSED: linalg.mlir:[[@LINE+20]]:8: error: linalg.matmul is not in a kernel: the program can be planned, but not run

// CHECK: zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]] = zero.all_gather
// CHECK: %[[W:.*]] = zero.member %[[F]] at 0 : (tensor<256xf32>) -> tensor<16x8xf32>
// CHECK: linalg.matmul ins(%{{.*}}, %[[W]] :
// CHECK: %[[LOSS:.*]] = linalg.reduce
// CHECK: %[[DW:.*]] = linalg.matmul
// CHECK-NEXT: %[[G:.*]] = zero.bucket(%[[DW]]) at [0]
// CHECK-NEXT: zero.reduce_scatter %[[G]]
// CHECK: zero.all_reduce %[[LOSS]] mean
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
