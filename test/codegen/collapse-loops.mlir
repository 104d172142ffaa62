// RUN: zero-opt %s --zero-collapse-loops --split-input-file | FileCheck %s

// A nest of one kind becomes one loop. Accesses in its order need no delinearization.
// CHECK-LABEL: func.func private @bias
// CHECK-DAG: %[[ALL:.*]] = arith.constant 2048 : index
// CHECK-DAG: %[[X:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1, 2]]
// CHECK-DAG: %[[Y:.*]] = memref.collapse_shape %arg2 {{\[\[}}0, 1, 2]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ALL]] step
// CHECK-NEXT: %[[AT:.*]]:3 = affine.delinearize_index %[[I]] into (2, 16, 64)
// CHECK-NEXT: memref.load %[[X]][%[[I]]]
// CHECK-NEXT: memref.load %arg1[%[[AT]]#2]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[I]]]
// CHECK: zero.loop = "parallel"
// CHECK-NOT: scf.for
func.func private @bias(%x: memref<2x16x64xf32>, %b: memref<64xf32>, %y: memref<2x16x64xf32>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      scf.for %k = %c0 to %c64 step %c1 {
        %0 = memref.load %x[%i, %j, %k] : memref<2x16x64xf32>
        %1 = memref.load %b[%k] : memref<64xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%i, %j, %k] : memref<2x16x64xf32>
      } {zero.loop = "parallel"}
    } {zero.loop = "parallel"}
  } {zero.loop = "parallel"}
  return
}

// -----

// Sums keep their loop-carried values. Loops of two kinds remain two, and the rows of both become
// one index.
// CHECK-LABEL: func.func private @rows
// CHECK: scf.for %[[ROW:.*]] =
// CHECK-NEXT: %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32)
// CHECK-NEXT: memref.load %{{.*}}[%[[ROW]], %[[I]]] : memref<8x32xf32>
// CHECK: zero.loop = "sum"
// CHECK: memref.store %[[SUM]], %{{.*}}[%[[ROW]]] : memref<8xf32>
// CHECK: zero.loop = "parallel"
func.func private @rows(%x: memref<2x4x32xf32>, %y: memref<2x4xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %sum = scf.for %k = %c0 to %c32 step %c1 iter_args(%acc = %zero) -> (f32) {
        %0 = memref.load %x[%i, %j, %k] : memref<2x4x32xf32>
        %1 = arith.addf %acc, %0 : f32
        scf.yield %1 : f32
      } {zero.loop = "sum"}
      memref.store %sum, %y[%i, %j] : memref<2x4xf32>
    } {zero.loop = "parallel"}
  } {zero.loop = "parallel"}
  return
}

// -----

// A copy of memory onto itself, through two equal views, is erased.
// CHECK-LABEL: func.func private @itself
// CHECK-NOT: scf.for
// CHECK: return
func.func private @itself(%x: memref<8x4xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %a = memref.collapse_shape %x [[0, 1]] : memref<8x4xf32> into memref<32xf32>
  %b = memref.collapse_shape %x [[0, 1]] : memref<8x4xf32> into memref<32xf32>
  scf.for %i = %c0 to %c32 step %c1 {
    %0 = memref.load %a[%i] : memref<32xf32>
    memref.store %0, %b[%i] : memref<32xf32>
  } {zero.loop = "parallel"}
  return
}
