// RUN: zero-opt %s --zero-launch-kernels --split-input-file --remark-format=emitRemark --remarks-filter=gpu 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// One launch over a length that is known at run time: full threads run four neighbours together,
// and the last thread runs the remainder.
// CHECK-LABEL: func.func private @update
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[LENGTH:.*]], %
// CHECK: gpu.launch blocks(%[[BX:[^,]*]], {{.*}} = %[[BLOCKS]]
// CHECK: scf.if
// CHECK-COUNT-4: memref.load
// CHECK-COUNT-4: arith.addf
// CHECK-COUNT-4: memref.store
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[LENGTH]]
// CHECK: zero.per_block = 1024 : i64
func.func private @update(%x: memref<?xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %length = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %length step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %x[%i] : memref<?xf32>
  } {zero.loop = "parallel", zero.loop_threads = "one", zero.neighbours = 4 : i64}
  return
}

// -----

// A warp computes a row: each lane sums its part, then the parts are added in five steps, and one
// lane stores.
// CHECK-LABEL: func.func private @row
// CHECK: gpu.launch
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[BIT:.*]] = arith.constant 16 : i32
// CHECK: %[[OTHER:.*]], %{{.*}} = gpu.shuffle  xor %[[SUM]], %[[BIT]]
// CHECK: arith.addf %[[SUM]], %[[OTHER]]
// CHECK-COUNT-4: gpu.shuffle  xor
// CHECK: scf.if
// CHECK-NEXT: memref.store
func.func private @row(%x: memref<8x64xf32>, %y: memref<8xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %sum = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (f32) {
      %0 = memref.load %x[%i, %k] : memref<8x64xf32>
      %1 = arith.addf %acc, %0 : f32
      scf.yield %1 : f32
    } {zero.loop = "sum"}
    memref.store %sum, %y[%i] : memref<8xf32>
  } {zero.loop = "parallel", zero.loop_threads = "warp"}
  return
}

// -----

// Lanes wait before they read values of other lanes.
// CHECK-LABEL: func.func private @twice
// CHECK: memref.store
// CHECK: nvvm.bar.warp.sync
// CHECK: memref.load
func.func private @twice(%x: memref<8x64xf32>, %y: memref<8x64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %k = %c0 to %c64 step %c1 {
      %0 = arith.index_cast %k : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      memref.store %1, %x[%i, %k] : memref<8x64xf32>
    } {zero.loop = "parallel"}
    scf.for %k = %c0 to %c64 step %c1 {
      %0 = arith.subi %c63, %k : index
      %1 = memref.load %x[%i, %0] : memref<8x64xf32>
      memref.store %1, %y[%i, %k] : memref<8x64xf32>
    } {zero.loop = "parallel"}
  } {zero.loop = "parallel", zero.loop_threads = "warp"}
  return
}

// -----

// The warps of a block divide the rows of 32 columns and add their parts in order. Each has eight
// rows, which its loop counts.
// CHECK-LABEL: func.func private @columns
// CHECK: gpu.launch {{.*}} workgroup(%[[PARTS:.*]] : memref<16x32xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT: arith.minui
// CHECK: %[[ROUNDS:.*]] = arith.constant 8 : index
// CHECK: scf.for %[[ROUND:[^ ]*]] = %{{[^ ]*}} to %[[ROUNDS]] step
// CHECK: %[[FIRST:.*]] = arith.muli %[[ROUND]], %
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %
// CHECK: memref.load %{{.*}}[%[[ROW]], %
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK-COUNT-16: memref.load %[[PARTS]]
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
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}

// -----

// Of the 64 columns that two blocks handle, 24 do not exist: their threads run no iteration of an
// inner loop, which may store in place.
// CHECK-LABEL: func.func private @scaled
// CHECK: gpu.launch
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: %[[END:.*]] = arith.select %[[EXISTS]], %{{.*}}, %
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: memref.store
func.func private @scaled(%x: memref<128x40xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c40 step %c1 {
    scf.for %k = %c0 to %c128 step %c1 {
      %0 = memref.load %x[%k, %i] : memref<128x40xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %x[%k, %i] : memref<128x40xf32>
    } {zero.loop = "parallel"}
  } {zero.loop = "parallel", zero.loop_threads = "column"}
  return
}

// -----

// One block computes a sum of all elements. Other blocks read it through the workspace.
// CHECK-LABEL: func.func private @mean
// CHECK-SAME: memref<64xi8> {llvm.align = 64 : i64, llvm.noalias}) attributes {{.*}}zero.workspace = 64
// CHECK: %[[SLOT:.*]] = memref.view
// CHECK: gpu.launch
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[SLOT]][]
// CHECK: memref.load %[[SLOT]][]
// CHECK: gpu.launch
func.func private @mean(%x: memref<1024xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %k = %c0 to %c1024 step %c1 iter_args(%acc = %zero) -> (f32) {
    %0 = memref.load %x[%k] : memref<1024xf32>
    %1 = arith.addf %acc, %0 : f32
    scf.yield %1 : f32
  } {zero.loop = "sum"}
  scf.for %k = %c0 to %c1024 step %c1 {
    memref.store %sum, %x[%k] : memref<1024xf32>
  } {zero.loop = "parallel", zero.loop_threads = "one"}
  return
}

// -----

// Rows are added to a table in order. Each thread does so for one column.
// REMARK: kernel 'scatter' has a sequential loop, on 64 threads
// CHECK-LABEL: func.func private @scatter
// CHECK: gpu.launch
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %[[COLUMN:.*]] to %
func.func private @scatter(%x: memref<16x64xf32>, %at: memref<16xindex>, %t: memref<8x64xf32>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %row = memref.load %at[%i] : memref<16xindex>
    scf.for %k = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<16x64xf32>
      %1 = memref.load %t[%row, %k] : memref<8x64xf32>
      %2 = arith.addf %1, %0 : f32
      memref.store %2, %t[%row, %k] : memref<8x64xf32>
    } {zero.loop = "parallel"}
  }
  return
}

// -----

// A temporary of a row has one copy per row.
// CHECK-LABEL: func.func private @temporary
// CHECK-SAME: zero.workspace = 2048
// CHECK: gpu.launch
// CHECK: memref.view
func.func private @temporary(%x: memref<8x64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %t = memref.alloc() : memref<64xf32>
    scf.for %k = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %k] : memref<8x64xf32>
      memref.store %0, %t[%k] : memref<64xf32>
    } {zero.loop = "parallel"}
  } {zero.loop = "parallel", zero.loop_threads = "warp"}
  return
}

// -----

// Four neighbours are in one row of 8 elements, but not always in one of 6.
// CHECK-LABEL: func.func private @ends_of_rows
// CHECK: affine.delinearize_index %{{.*}} into (4, 2)
// CHECK-NOT: affine.delinearize_index
// CHECK: gpu.terminator
// CHECK-COUNT-4: affine.delinearize_index %{{.*}} into (4, 6)
func.func private @ends_of_rows(%x: memref<4xf32>, %y: memref<32xf32>, %z: memref<24xf32>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    %at:2 = affine.delinearize_index %i into (4, 8) : index, index
    %0 = memref.load %x[%at#0] : memref<4xf32>
    memref.store %0, %y[%i] : memref<32xf32>
  } {zero.loop = "parallel", zero.loop_threads = "one", zero.neighbours = 4 : i64}
  scf.for %i = %c0 to %c24 step %c1 {
    %at:2 = affine.delinearize_index %i into (4, 6) : index, index
    %0 = memref.load %x[%at#0] : memref<4xf32>
    memref.store %0, %z[%i] : memref<24xf32>
  } {zero.loop = "parallel", zero.loop_threads = "one", zero.neighbours = 4 : i64}
  return
}
