// RUN: zero-opt %s --zero-fuse-kernels --zero-bufferize-kernels | FileCheck %s

// Arguments are the inputs, then the results. Nothing is allocated, copied or returned.

// CHECK-LABEL: func.func private @scale(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x8xf32>, %[[Y:[a-z0-9]+]]: memref<4x8xf32> {llvm.noalias},
// CHECK-NOT: memref.alloc
// CHECK: %[[FLATX:.*]] = memref.collapse_shape %[[X]]
// CHECK: %[[FLATY:.*]] = memref.collapse_shape %[[Y]]
// CHECK: memref.load %[[FLATX]]
// CHECK: memref.store %{{.*}}, %[[FLATY]]
// CHECK: return{{$}}
func.func private @scale(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A result that shares an argument's buffer uses that argument.

// CHECK-LABEL: func.func private @momentum(
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<?xf32> {llvm.noalias, zero.inplace = 0 : i64}, %[[G:[a-z0-9]+]]: memref<?xf32>,
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.copy
// CHECK: memref.store %{{.*}}, %[[W]]
func.func private @momentum(%w: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g : tensor<?xf32>) outs(%w : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.subf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A small temporary is on the stack, a large one in the workspace.

// CHECK-LABEL: func.func private @twice_small(
// CHECK-NOT: memref<{{.*}}xi8>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<10x10xf32>
func.func private @twice_small(%x: tensor<10x10xf32>) -> tensor<10x10xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<100xf32>
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<10x10xf32> into tensor<100xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%c : tensor<100xf32>) outs(%e : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  %e2 = tensor.empty() : tensor<100xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%y : tensor<100xf32>) outs(%e2 : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.constant 99 : index
    %j = arith.subi %n, %i : index
    %v = tensor.extract %y[%j] : tensor<100xf32>
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  %r = tensor.expand_shape %z [[0, 1]] output_shape [10, 10] : tensor<100xf32> into tensor<10x10xf32>
  return %r : tensor<10x10xf32>
}

// CHECK-LABEL: func.func private @twice_large(
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<80000xi8> {llvm.align = 64 : i64, llvm.noalias})
// CHECK-SAME: zero.workspace = 80000 : i64
// CHECK: memref.view %[[W]]
func.func private @twice_large(%x: tensor<20000xf32>) -> tensor<20000xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<20000xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%x : tensor<20000xf32>) outs(%e : tensor<20000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<20000xf32>
  %e2 = tensor.empty() : tensor<20000xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%y : tensor<20000xf32>) outs(%e2 : tensor<20000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.constant 19999 : index
    %j = arith.subi %n, %i : index
    %v = tensor.extract %y[%j] : tensor<20000xf32>
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<20000xf32>
  return %z : tensor<20000xf32>
}
