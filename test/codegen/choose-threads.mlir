// RUN: zero-opt %s --zero-choose-threads --split-input-file | FileCheck %s

// 16 bytes of the narrowest access are four floats. The length may be a multiple of any number. The
// address of what is accessed so must be a multiple of 16, that of a factor that all share need not.
// CHECK-LABEL: func.func private @elements
// CHECK-SAME: (%{{.*}}: memref<?xf32> {zero.aligned}, %{{.*}}: memref<1xf32>) attributes
// CHECK: {zero.loop = "parallel", zero.loop_threads = "one", zero.neighbours = 4 : i64}
func.func private @elements(%x: memref<?xf32>, %factor: memref<1xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %length step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %f = memref.load %factor[%c0] : memref<1xf32>
    %1 = arith.mulf %0, %f : f32
    memref.store %1, %x[%i] : memref<?xf32>
  } {zero.loop = "parallel"}
  return
}

// -----

// What is stored is contiguous over the ends of rows.
// CHECK-LABEL: func.func private @digits
// CHECK: {zero.loop = "parallel", zero.loop_threads = "one", zero.neighbours = 4 : i64}
func.func private @digits(%x: memref<6xf32>, %y: memref<24xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.for %i = %c0 to %c24 step %c1 {
    %at:2 = affine.delinearize_index %i into (4, 6) : index, index
    %0 = memref.load %x[%at#1] : memref<6xf32>
    memref.store %0, %y[%i] : memref<24xf32>
  } {zero.loop = "parallel"}
  return
}

// -----

// Rows of 6 elements of another buffer allow two neighbours per thread.
// CHECK-LABEL: func.func private @rows_of_columns
// CHECK: {zero.loop = "parallel", zero.loop_threads = "one", zero.neighbours = 2 : i64}
func.func private @rows_of_columns(%x: memref<6xf32>, %y: memref<4x8xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.for %i = %c0 to %c24 step %c1 {
    %at:2 = affine.delinearize_index %i into (4, 6) : index, index
    %0 = memref.load %x[%at#1] : memref<6xf32>
    memref.store %0, %y[%at#0, %at#1] : memref<4x8xf32>
  } {zero.loop = "parallel"}
  return
}

// -----

// The group that divides a row depends on its length. A warp with little work uses fewer neighbours
// per thread.
// CHECK-LABEL: func.func private @row
// CHECK: {zero.loop = "sum", zero.neighbours = 2 : i64}
// CHECK: {zero.loop = "parallel", zero.loop_threads = "warp"}
// CHECK: {zero.loop = "sum", zero.neighbours = 4 : i64}
// CHECK: {zero.loop = "parallel", zero.loop_threads = "block"}
func.func private @row(%x: memref<8x64xf32>, %l: memref<8x4096xf32>, %y: memref<8xf32>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%i, %k] : memref<8x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<8xf32>
  } {zero.loop = "parallel"}
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = scf.for %k = %c0 to %c4096 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %l[%i, %k] : memref<8x4096xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<8xf32>
  } {zero.loop = "parallel"}
  return
}

// -----

// Sums across rows: neighbours in memory belong to different sums.
// CHECK-LABEL: func.func private @columns
// CHECK: {zero.loop = "sum"}
// CHECK: {zero.loop = "parallel", zero.loop_threads = "column"}
func.func private @columns(%x: memref<128x64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c64 step %c1 {
    %sum = scf.for %k = %c0 to %c128 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%k, %i] : memref<128x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<64xf32>
  } {zero.loop = "parallel"}
  return
}

// -----

// One thread runs a sequential loop, and also a loop that carries more than a sum.
// CHECK-LABEL: func.func private @ordered
// CHECK: {zero.loop = "parallel", zero.loop_threads = "one"}
func.func private @ordered(%x: memref<8x64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %last = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%i, %k] : memref<8x64xf32>
      %1 = arith.addf %acc, %0 : f32
      memref.store %1, %x[%i, %k] : memref<8x64xf32>
      scf.yield %1 : f32
    }
  } {zero.loop = "parallel"}
  return
}

// -----

// A sum over a dynamic length has no remainder: each lane handles one element at a time.
// CHECK-LABEL: func.func private @total
// CHECK: {zero.loop = "sum"}
func.func private @total(%x: memref<?xf32>, %y: memref<f32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %length = memref.dim %x, %c0 : memref<?xf32>
  %sum = scf.for %i = %c0 to %length step %c1 iter_args(%acc = %zero) -> (f32) {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %acc, %0 : f32
    scf.yield %1 : f32
  } {zero.loop = "sum"}
  memref.store %sum, %y[] : memref<f32>
  return
}

// -----

// Where a row begins is the same for all its elements: it does not count as memory along rows.
// CHECK-LABEL: func.func private @ranges
// CHECK: {zero.loop = "parallel", zero.loop_threads = "block"}
func.func private @ranges(%firsts: memref<?xindex>, %x: memref<?xf32>, %y: memref<?xf32>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %length = memref.dim %firsts, %c0 : memref<?xindex>
  scf.for %i = %c0 to %length step %c1 {
    %sum = scf.for %k = %c0 to %c4096 step %c1 iter_args(%acc = %zero) -> (f32) {
      %first = memref.load %firsts[%i] : memref<?xindex>
      %at = arith.addi %first, %k : index
      %0 = memref.load %x[%at] : memref<?xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<?xf32>
  } {zero.loop = "parallel"}
  return
}
