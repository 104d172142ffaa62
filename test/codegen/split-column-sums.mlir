// RUN: zero-opt %s --zero-split-column-sums --split-input-file | FileCheck %s

// The sums over 1024 rows become sums over four chunks of 256 rows, for each of 64 columns, which
// fill a temporary, and sums over the four chunks.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: (%[[X:.*]]: memref<1024x64xf32>, %[[Y:.*]]: memref<64xf32>)
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<4x64xf32>
// CHECK: %[[ALL:.*]] = arith.constant 256 : index
// CHECK: scf.for %[[I:[^ ]*]] = %{{.*}} to %[[ALL]]
// CHECK: %[[AT:.*]]:2 = affine.delinearize_index %[[I]] into (4, 64)
// CHECK: %[[BEGIN:.*]] = arith.muli %[[AT]]#0, %
// CHECK: %[[PART:.*]] = scf.for %[[K:[^ ]*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:[^ ]*]] = %
// CHECK: %[[ROW:.*]] = arith.addi %[[BEGIN]], %[[K]]
// CHECK: memref.load %[[X]][%[[ROW]], %[[AT]]#1]
// CHECK: {zero.loop = "sum"}
// CHECK: memref.store %[[PART]], %[[PARTS]][%[[AT]]#0, %[[AT]]#1]
// CHECK: {zero.loop = "parallel", zero.loop_threads = "column"}
// CHECK: scf.for %[[COLUMN:[^ ]*]] = %
// CHECK: scf.for %[[CHUNK:[^ ]*]] = %
// CHECK: memref.load %[[PARTS]][%[[CHUNK]], %[[COLUMN]]]
// CHECK: {zero.loop = "sum"}
// CHECK: memref.store %{{.*}}, %[[Y]][%[[COLUMN]]]
// CHECK: {zero.loop = "parallel", zero.loop_threads = "column"}
func.func private @columns(%x: memref<1024x64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %sum = scf.for %k = %c0 to %c1024 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<1024x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<64xf32>
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}

// -----

// The third chunk has 8 rows of its own. Its other iterations read the last row and add nothing.
// CHECK-LABEL: func.func private @remainder
// CHECK: memref.alloc() : memref<3x64xf32>
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[ROW]], %
// CHECK: %[[SAFE:.*]] = arith.minui %[[ROW]], %
// CHECK: %[[VALUE:.*]] = memref.load %{{.*}}[%[[SAFE]], %
// CHECK: %[[ADDED:.*]] = arith.select %[[EXISTS]], %[[VALUE]], %
// CHECK: arith.maximumf %{{.*}}, %[[ADDED]]
func.func private @remainder(%x: memref<520x64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c520 = arith.constant 520 : index
  %least = arith.constant 0xFF800000 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %most = scf.for %k = %c0 to %c520 step %c1 iter_args(%acc = %least) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<520x64xf32>
      %1 = arith.maximumf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %most, %y[%i] : memref<64xf32>
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}

// -----

// The second sum reads the first: its chunks add up the chunks of the first one again.
// CHECK-LABEL: func.func private @deviation
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<2x64xf32>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: {zero.loop = "parallel", zero.loop_threads = "column"}
// CHECK: %[[SQUARES:.*]] = memref.alloc() : memref<2x64xf32>
// CHECK: scf.for
// CHECK: memref.load %[[SUMS]]
// CHECK: memref.store %{{.*}}, %[[SQUARES]]
// CHECK: {zero.loop = "parallel", zero.loop_threads = "column"}
// CHECK: scf.for
// CHECK: memref.load %[[SUMS]]
// CHECK: memref.load %[[SQUARES]]
func.func private @deviation(%x: memref<512x64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 512.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %sum = scf.for %k = %c0 to %c512 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<512x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    %mean = arith.divf %sum, %scale : f32
    %squares = scf.for %k = %c0 to %c512 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<512x64xf32>
      %1 = arith.subf %0, %mean : f32
      %2 = arith.mulf %1, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      scf.yield %3 : f32
    } {zero.loop = "sum"}
    memref.store %squares, %y[%i] : memref<64xf32>
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}

// -----

// A few rows are not worth a second launch.
// CHECK-LABEL: func.func private @short
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @short(%x: memref<511x64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c511 = arith.constant 511 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %sum = scf.for %k = %c0 to %c511 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<511x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<64xf32>
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}

// -----

// The column is scaled in place before it is summed: no chunk may be summed before that.
// CHECK-LABEL: func.func private @written
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @written(%x: memref<1024x64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %k = %c0 to %c1024 step %c1 {
      %0 = memref.load %x[%k, %i] : memref<1024x64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %x[%k, %i] : memref<1024x64xf32>
    } {zero.loop = "parallel"}
    %sum = scf.for %k = %c0 to %c1024 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<1024x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<64xf32>
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}
