// RUN: zero-opt %s --zero-block-sums | FileCheck %s

// 2500 terms: two blocks of 1024 and one of 452. The maximum is carried from block to block.

// CHECK-LABEL: func.func private @long
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[ALL:.*]]:2 = scf.for %[[K:.*]] = %{{.*}} to %c2500{{.*}} step %c1024{{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]], %[[MOST:.*]] = %[[LOW]]) -> (f64, f32) {
// CHECK:   %[[NEXT:.*]] = arith.addi %[[K]], %{{.*}} : index
// CHECK:   %[[END:.*]] = arith.minui %[[NEXT]], %{{.*}} : index
// CHECK:   %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:   %[[BLOCK:.*]]:2 = scf.for %[[I:.*]] = %[[K]] to %[[END]] {{.*}} iter_args(%[[PART:.*]] = %[[NONE]], %[[TOP:.*]] = %[[MOST]]) -> (f32, f32) {
// CHECK:     %[[TERM:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK:     %[[ADDED:.*]] = arith.addf %[[PART]], %[[TERM]] fastmath<reassoc> : f32
// CHECK:     %[[MAX:.*]] = arith.maximumf %[[TOP]], %[[TERM]] : f32
// CHECK:     scf.yield %[[ADDED]], %[[MAX]]
// CHECK:   %[[WIDE:.*]] = arith.extf %[[BLOCK]]#0 : f32 to f64
// CHECK:   %[[NEW:.*]] = arith.addf %[[SUM]], %[[WIDE]] fastmath<reassoc> : f64
// CHECK:   scf.yield %[[NEW]], %[[BLOCK]]#1
// CHECK: memref.store %[[ALL]]#0
func.func private @long(%x: memref<2500xf32>, %sum: memref<f64>, %most: memref<f32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2500 : index
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFF800000 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %m = %low) -> (f64, f32) {
    %a = memref.load %x[%i] : memref<2500xf32>
    %w = arith.extf %a : f32 to f64
    %t = arith.addf %s, %w fastmath<reassoc> : f64
    %u = arith.maximumf %m, %a : f32
    scf.yield %t, %u : f64, f32
  }
  memref.store %r#0, %sum[] : memref<f64>
  memref.store %r#1, %most[] : memref<f32>
  return
}

// One block for each row of an image, whose sums the outer loop adds in doubles. Loops over a few
// elements stay.

// CHECK-LABEL: func.func private @nested
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f64) {
// CHECK:   %[[BLOCK:.*]] = scf.for {{.*}} -> (f32) {
// CHECK:   arith.addf %[[SUM]], %{{.*}} : f64
// CHECK: scf.for {{.*}} -> (f64) {
// CHECK-NOT: -> (f32)
func.func private @nested(%x: memref<100x64xf32>, %y: memref<8xf32>, %sum: memref<f64>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f64
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%s = %zero) -> (f64) {
    %p = scf.for %j = %c0 to %c64 step %c1 iter_args(%t = %s) -> (f64) {
      %a = memref.load %x[%i, %j] : memref<100x64xf32>
      %w = arith.extf %a : f32 to f64
      %u = arith.addf %t, %w fastmath<reassoc> : f64
      scf.yield %u : f64
    }
    scf.yield %p : f64
  }
  %q = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %r) -> (f64) {
    %a = memref.load %y[%i] : memref<8xf32>
    %w = arith.extf %a : f32 to f64
    %u = arith.addf %s, %w fastmath<reassoc> : f64
    scf.yield %u : f64
  }
  memref.store %q, %sum[] : memref<f64>
  return
}
