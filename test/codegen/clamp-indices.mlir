// RUN: zero-opt %s --zero-clamp-indices --split-input-file | FileCheck %s

// A gather: the row depends on the data, the column does not.
// CHECK-LABEL: func.func private @gather
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[COLUMN:.*]] =
// CHECK: %[[INDEX:.*]] = memref.load %{{.*}}[%[[I]]] : memref<4xi64>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[INDEX]]
// CHECK: %[[LAST:.*]] = arith.constant 49 : index
// CHECK: %[[SAFE:.*]] = arith.minui %[[ROW]], %[[LAST]] : index
// CHECK: memref.load %{{.*}}[%[[SAFE]], %[[COLUMN]]] : memref<50x8xf32>
// CHECK-NOT: arith.minui
// CHECK: memref.store %{{.*}}[%[[I]], %[[COLUMN]]] : memref<4x8xf32>
func.func private @gather(%indices: memref<4xi64>, %table: memref<50x8xf32>,
                          %rows: memref<4x8xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = memref.load %indices[%i] : memref<4xi64>
      %row = arith.index_cast %0 : i64 to index
      %1 = memref.load %table[%row, %j] : memref<50x8xf32>
      memref.store %1, %rows[%i, %j] : memref<4x8xf32>
    }
  }
  return
}

// -----

// Loaded values reach an index through arithmetic, and through the bounds of a loop. A store is
// clamped like a load.
// CHECK-LABEL: func.func private @runs
// CHECK: scf.for %[[AT:.*]] =
// CHECK: arith.minui %[[AT]], %{{.*}} : index
// CHECK-NEXT: memref.load
// CHECK: %[[ROW:.*]] = arith.select
// CHECK: %[[SAFE:.*]] = arith.minui %[[ROW]], %{{.*}} : index
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[SAFE]]] : memref<9xf32>
func.func private @runs(%first: memref<8xi64>, %values: memref<8xf32>, %sums: memref<9xf32>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %begin = memref.load %first[%c0] : memref<8xi64>
  %from = arith.index_cast %begin : i64 to index
  scf.for %at = %from to %c9 step %c1 {
    %0 = memref.load %values[%at] : memref<8xf32>
    %isNegative = arith.cmpi slt, %from, %c0 : index
    %wrapped = arith.addi %from, %c9 : index
    %row = arith.select %isNegative, %wrapped, %from : index
    memref.store %0, %sums[%row] : memref<9xf32>
  }
  return
}

// -----

// What a loop carries may be a loaded value.
// CHECK-LABEL: func.func private @carried
// CHECK: iter_args(%[[AT:.*]] =
// CHECK: arith.minui %[[AT]], %{{.*}} : index
func.func private @carried(%next: memref<8xi64>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%at = %c0) -> (index) {
    %0 = memref.load %next[%at] : memref<8xi64>
    %1 = arith.index_cast %0 : i64 to index
    scf.yield %1 : index
  }
  return
}

// -----

// Kernels of the host, and functions that are no kernels, stay as they are.
// CHECK-LABEL: func.func private @host
// CHECK-NOT: arith.minui
func.func private @host(%indices: memref<4xi64>, %table: memref<50xf32>)
    attributes {zero.host_kernel, zero.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %indices[%c0] : memref<4xi64>
  %row = arith.index_cast %0 : i64 to index
  %1 = memref.load %table[%row] : memref<50xf32>
  memref.store %1, %table[%c0] : memref<50xf32>
  return
}

// -----

// Indices that are constants of the program are no data of users.
// CHECK-LABEL: func.func private @constants
// CHECK-NOT: arith.minui
func.func private @constants(%indices: memref<4xi64>, %table: memref<?xf32>) attributes {zero.kernel, zero.constant_indices} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %indices[%c0] : memref<4xi64>
  %row = arith.index_cast %0 : i64 to index
  %1 = memref.load %table[%row] : memref<?xf32>
  memref.store %1, %table[%c0] : memref<?xf32>
  return
}

// -----

// A view is moved such that all of it is inside of its buffer: 50 rows, of which it has 0, 2 and 4.
// CHECK-LABEL: func.func private @view
// CHECK: %[[ROW:.*]] = arith.index_cast
// CHECK: %[[LAST:.*]] = arith.constant 45 : index
// CHECK: %[[CLAMPED:.*]] = arith.minui %[[ROW]], %[[LAST]] : index
// CHECK: memref.subview %{{.*}}[%[[CLAMPED]], 0] [3, 8] [2, 1]
func.func private @view(%indices: memref<4xi64>, %table: memref<50x8xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %indices[%c0] : memref<4xi64>
  %row = arith.index_cast %0 : i64 to index
  %rows = memref.subview %table[%row, 0] [3, 8] [2, 1]
      : memref<50x8xf32> to memref<3x8xf32, strided<[16, 1], offset: ?>>
  %1 = memref.load %rows[%c0, %c0] : memref<3x8xf32, strided<[16, 1], offset: ?>>
  memref.store %1, %table[%c0, %c0] : memref<50x8xf32>
  return
}
