// RUN: zero-opt %s --zero-approximate-functions | FileCheck %s

// CHECK-LABEL: func.func private @short
// CHECK: llvm.intr.tanh(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
func.func private @short(%x: memref<8xbf16>, %y: memref<8xbf16>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i] : memref<8xbf16>
    %1 = arith.extf %0 : bf16 to f32
    %2 = math.tanh %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.truncf %3 : f32 to bf16
    memref.store %4, %y[%i] : memref<8xbf16>
  }
  return
}

// A result in float32, and a sum.
// CHECK-LABEL: func.func private @long
// CHECK-NOT: llvm.intr.tanh
func.func private @long(%x: memref<8xbf16>, %y: memref<8xf32>, %z: memref<1xbf16>)
    attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (f32) {
    %0 = memref.load %x[%i] : memref<8xbf16>
    %1 = arith.extf %0 : bf16 to f32
    %2 = math.tanh %1 : f32
    memref.store %2, %y[%i] : memref<8xf32>
    %3 = math.tanh %1 : f32
    %4 = arith.addf %acc, %3 : f32
    scf.yield %4 : f32
  }
  %5 = arith.truncf %sum : f32 to bf16
  memref.store %5, %z[%c0] : memref<1xbf16>
  return
}
