// RUN: zero-opt %s --zero-simulate-launches | FileCheck %s

// All threads run up to the barrier. Values that they need later are stored in an array.
// CHECK-LABEL: func.func private @reverse
// CHECK: %[[SHARED:.*]] = memref.alloca() : memref<32xf32>
// CHECK: scf.for %[[BLOCK:.*]] = %
// CHECK: scf.for %[[THREAD:.*]] = %
// CHECK: memref.load %arg0[%[[THREAD]]]
// CHECK: memref.store %{{.*}}, %[[SHARED]][%[[THREAD]]]
// CHECK: }
// CHECK: scf.for %[[AGAIN:.*]] = %
// CHECK: arith.subi %{{.*}}, %[[AGAIN]]
// CHECK: memref.load %[[SHARED]]
// CHECK-NOT: gpu.
func.func private @reverse(%x: memref<32xf32>, %y: memref<32xf32>) attributes {zero.kernel} {
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%b, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%s : memref<32xf32, #gpu.address_space<workgroup>>) {
    %0 = memref.load %x[%t] : memref<32xf32>
    memref.store %0, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %1 = arith.subi %c31, %t : index
    %2 = memref.load %s[%1] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %2, %y[%t] : memref<32xf32>
    gpu.terminator
  }
  return
}

// A shuffle gives a thread the value of the thread whose number differs in one bit.
// CHECK-LABEL: func.func private @pairs
// CHECK: %[[OTHER:.*]] = arith.xori %[[OWN:.*]], %
// CHECK: %[[THEIRS:.*]] = memref.load %{{.*}}[%[[OTHER]]]
// CHECK: memref.store %[[THEIRS]], %{{.*}}[%[[OWN]]]
func.func private @pairs(%x: memref<32xf32>) attributes {zero.kernel} {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%b, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %0 = memref.load %x[%t] : memref<32xf32>
    %bit = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %1, %valid = gpu.shuffle xor %0, %bit, %width : f32
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %x[%t] : memref<32xf32>
    gpu.terminator
  }
  return
}
