// The changes that generic passes may make to the ops of one rank's program.
// RUN: zero-opt %s --cse | FileCheck %s --check-prefixes=CHECK,CSE
// RUN: zero-opt %s --canonicalize | FileCheck %s
// RUN: zero-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefixes=CHECK,LOOP

zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
zero.parameter @w : tensor<64xf32>

// The gathers of forward and backward remain two. Reads of a symbol become one.
// CHECK-LABEL: func.func @gathers
// CSE-COUNT-1: zero.read @bucket0
// CSE-NOT: zero.read
// CHECK: zero.all_gather
// CHECK: zero.all_gather
// CHECK: return
func.func @gathers() -> (tensor<256xf32>, tensor<256xf32>) {
  %0 = zero.read @bucket0 : tensor<64xf32>
  %1 = zero.all_gather %0 : (tensor<64xf32>) -> tensor<256xf32>
  %2 = zero.read @bucket0 : tensor<64xf32>
  %3 = zero.all_gather %2 : (tensor<64xf32>) -> tensor<256xf32>
  return %1, %3 : tensor<256xf32>, tensor<256xf32>
}

// Equal reductions remain two.
// CHECK-LABEL: func.func @reductions
// CHECK: zero.reduce_scatter
// CHECK: zero.reduce_scatter
// CHECK: zero.all_reduce
// CHECK: zero.all_reduce
// CHECK: return
func.func @reductions(%g: tensor<256xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<256xf32>, tensor<256xf32>) {
  %0 = zero.reduce_scatter %g : (tensor<256xf32>) -> tensor<64xf32>
  %1 = zero.reduce_scatter %g : (tensor<256xf32>) -> tensor<64xf32>
  %2 = zero.all_reduce %g : tensor<256xf32>
  %3 = zero.all_reduce %g : tensor<256xf32>
  return %0, %1, %2, %3 : tensor<64xf32>, tensor<64xf32>, tensor<256xf32>, tensor<256xf32>
}

// Equal broadcasts remain two.
// CHECK-LABEL: func.func @broadcasts
// CHECK: zero.broadcast
// CHECK: zero.broadcast
// CHECK: return
func.func @broadcasts(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = zero.broadcast %x from 0 : (tensor<64xf32>) -> tensor<64xf32>
  %1 = zero.broadcast %x from 0 : (tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// A gather remains in its loop.
// CHECK-LABEL: func.func @loop
// LOOP: scf.for
// LOOP: zero.all_gather
func.func @loop(%s: tensor<64xf32>, %x: tensor<256xf32>, %n: index) -> tensor<256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<256xf32> {
    %f = zero.all_gather %s : (tensor<64xf32>) -> tensor<256xf32>
    %b = arith.addf %a, %f : tensor<256xf32>
    scf.yield %b : tensor<256xf32>
  }
  return %r : tensor<256xf32>
}

// Sums over ranks for the optimizer, checks and writes are never removed.
// CHECK-LABEL: func.func @kept
// CHECK: zero.gradient
// CHECK: zero.gradient
// CHECK: zero.check
// CHECK: zero.write
func.func @kept(%x: tensor<64xf32>, %i: tensor<2xi64>) {
  %0 = zero.gradient @w, %x : tensor<64xf32> -> tensor<64xf32>
  %1 = zero.gradient @w, %x : tensor<64xf32> -> tensor<64xf32>
  zero.check %i in [0, 1] "range" : tensor<2xi64>
  zero.write @bucket0, %x : tensor<64xf32>
  return
}

// A gather or a launch without readers is removed.
// CHECK-LABEL: func.func @dead
// CSE-NOT: zero.
// CSE: return
func.func @dead(%s: tensor<64xf32>) {
  %0 = zero.all_gather %s : (tensor<64xf32>) -> tensor<256xf32>
  %1 = zero.launch @k(%s) : (tensor<64xf32>) -> tensor<64xf32>
  return
}
// CHECK-LABEL: func.func private @k(
func.func private @k(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  return %x : tensor<64xf32>
}
