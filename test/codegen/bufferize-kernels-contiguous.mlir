// RUN: zero-opt %s --zero-fuse-kernels --zero-bufferize-kernels | FileCheck %s

// Loops that run through memory in its order are one loop.

#id2 = affine_map<(a, b) -> (a, b)>
#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>
#channel = affine_map<(a, b, c, d) -> (b)>
#turned = affine_map<(a, b) -> (b, a)>

// Element by element: one loop, which threads divide.

// CHECK-LABEL: func.func private @elements(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2x3x7x7xf32>, %[[Y:[a-z0-9]+]]: memref<2x3x7x7xf32> {llvm.noalias}
// CHECK-SAME: zero.extent = 294 : i64
// CHECK-DAG: %[[FLATX:.*]] = memref.collapse_shape %[[X]] {{\[}}[0, 1, 2, 3]] : memref<2x3x7x7xf32> into memref<294xf32>
// CHECK-DAG: %[[FLATY:.*]] = memref.collapse_shape %[[Y]] {{\[}}[0, 1, 2, 3]] : memref<2x3x7x7xf32> into memref<294xf32>
// CHECK: scf.for %[[I:.*]] = %arg2 to %arg3
// CHECK: memref.load %[[FLATX]][%[[I]]]
// CHECK-NOT: scf.for
// CHECK: memref.store %{{.*}}, %[[FLATY]][%[[I]]]
func.func private @elements(%x: tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<2x3x7x7xf32>
  %y = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<2x3x7x7xf32>) outs(%e : tensor<2x3x7x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x3x7x7xf32>
  return %y : tensor<2x3x7x7xf32>
}

// The loop of the channels stays, because another buffer has only these.

// CHECK-LABEL: func.func private @channels(
// CHECK: memref.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : memref<2x64x7x7xf32> into memref<2x64x49xf32>
// CHECK: scf.for %[[N:.*]] = %c0 to %c2
// CHECK-NEXT: scf.for %[[C:.*]] = %arg3 to %arg4
// CHECK: scf.for %[[P:.*]] = %c0 to %c49
// CHECK: memref.load %{{.*}}[%[[N]], %[[C]], %[[P]]] : memref<2x64x49xf32>
// CHECK-NEXT: memref.load %{{.*}}[%[[C]]] : memref<64xf32>
func.func private @channels(%x: tensor<2x64x7x7xf32>, %m: tensor<64xf32>) -> tensor<2x64x7x7xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<2x64x7x7xf32>
  %y = linalg.generic {indexing_maps = [#id4, #channel, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x64x7x7xf32>, tensor<64xf32>) outs(%e : tensor<2x64x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x64x7x7xf32>
  return %y : tensor<2x64x7x7xf32>
}

// Each buffer has one shape in the kernel: `x` is also read in another order.

// CHECK-LABEL: func.func private @both_orders(
// CHECK-NOT: memref.collapse_shape
// CHECK: return
func.func private @both_orders(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#id2, #turned, #id2], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// Part of a row is not contiguous with the next one.

// CHECK-LABEL: func.func private @parts_of_rows(
// CHECK-NOT: memref.collapse_shape
// CHECK: scf.for
// CHECK-NEXT: scf.for
func.func private @parts_of_rows(%x: tensor<4x8xf32>) -> tensor<4x5xf32> attributes {zero.kernel} {
  %part = tensor.extract_slice %x[0, 0] [4, 5] [1, 1] : tensor<4x8xf32> to tensor<4x5xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
