// RUN: zero-opt %s --zero-clamp-indices --split-input-file --verify-diagnostics

func.func private @slice(%indices: memref<4xi64>, %table: memref<?xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %indices[%c0] : memref<4xi64>
  %row = arith.index_cast %0 : i64 to index
  // expected-error @+1 {{expected a static extent for an index that depends on values in memory, got dimension 0 of 'memref<?xf32>'}}
  %1 = memref.load %table[%row] : memref<?xf32>
  memref.store %1, %table[%c0] : memref<?xf32>
  return
}

// -----

func.func private @view(%indices: memref<4xi64>, %table: memref<50xf32>, %size: index)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %indices[%c0] : memref<4xi64>
  %row = arith.index_cast %0 : i64 to index
  // expected-error @+1 {{expected a view of static sizes at a place that depends on values in memory}}
  %rows = memref.subview %table[%row] [%size] [1] : memref<50xf32> to memref<?xf32, strided<[1], offset: ?>>
  %1 = memref.load %rows[%c0] : memref<?xf32, strided<[1], offset: ?>>
  memref.store %1, %table[%c0] : memref<50xf32>
  return
}
