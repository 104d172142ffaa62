// The gathers of stage 3.
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=3 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step | FileCheck %s --check-prefix=S2

// Only stage 3 gathers parameters.
// S2-NOT: zero.all_gather

// A tied parameter with distant uses is gathered for each use, so that it is not live between them.
// CHECK-LABEL: func.func @step
// CHECK: zero.read @[[TIED:.*]] :
// CHECK: zero.all_gather
// CHECK: arith.mulf
// CHECK: zero.read @[[OTHER:.*]] :
// CHECK: zero.all_gather
// CHECK: arith.addf
// CHECK: zero.read @[[TIED]] :
// CHECK: zero.all_gather
// CHECK: arith.subf
// CHECK-NOT: zero.all_gather
// CHECK: return
zero.parameter @tied : tensor<64xf32> {frozen}
zero.parameter @other : tensor<64xf32> {frozen}
func.func @step(%x: tensor<64xf32>) -> (tensor<64xf32> {zero.binding = "loss"}) {
  %t = zero.read @tied : tensor<64xf32>
  %o = zero.read @other : tensor<64xf32>
  %0 = arith.mulf %x, %t : tensor<64xf32>
  %1 = arith.addf %0, %o : tensor<64xf32>
  %2 = arith.subf %1, %t : tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

// Two uses without other ops between them: one gather.
// CHECK-LABEL: func.func @step
// CHECK: zero.all_gather
// CHECK-NOT: zero.all_gather
// CHECK: return
zero.parameter @near : tensor<64xf32> {frozen}
func.func @step(%x: tensor<64xf32>) -> (tensor<64xf32> {zero.binding = "loss"}) {
  %t = zero.read @near : tensor<64xf32>
  %0 = arith.mulf %x, %t : tensor<64xf32>
  %1 = arith.addf %0, %x : tensor<64xf32>
  %2 = arith.subf %1, %t : tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

// A frozen parameter is sharded and gathered, but neither reduced nor updated.
// CHECK: zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
// CHECK: zero.parameter @frozen
// CHECK-LABEL: func.func @step
// CHECK: zero.all_gather
// CHECK-NOT: zero.reduce_scatter
// CHECK-NOT: zero.write
zero.parameter @frozen : tensor<200xf32> {frozen}
func.func @step(%x: tensor<200xf32>) -> (tensor<200xf32> {zero.binding = "loss"}) {
  %t = zero.read @frozen : tensor<200xf32>
  %0 = arith.mulf %x, %t : tensor<200xf32>
  return %0 : tensor<200xf32>
}

// -----

// Reshapes between the parameter and its user follow the gathered value.
// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]] = zero.all_gather
// CHECK: %[[W:.*]] = zero.member %[[F]] at 0 : (tensor<256xf32>) -> tensor<8x8xf32>
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[W]]
// CHECK: arith.mulf %{{.*}}, %[[C]]
zero.parameter @w : tensor<8x8xf32> {frozen}
func.func @step(%x: tensor<64xf32>) -> (tensor<64xf32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8x8xf32>
  %c = tensor.collapse_shape %w [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %0 = arith.mulf %x, %c : tensor<64xf32>
  return %0 : tensor<64xf32>
}
