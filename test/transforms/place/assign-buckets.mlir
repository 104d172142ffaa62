// RUN: zero-opt %s --split-input-file --zero-place-state="stage=3 ranks=2" --zero-assign-buckets | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-place-state="stage=3 ranks=2" --zero-assign-buckets=bucket-bytes=300 | FileCheck %s --check-prefix=SMALL

// Parameters are ordered by first use, not by declaration. Starts are multiples of 64 elements, and
// each rank's part of a bucket is padded to one. States have the layout of their parameter.
// CHECK: zero.buckets = array<i64: 256>
// CHECK: zero.parameter @second : tensor<65xf32> {{.*}}home = @bucket0,{{.*}}start = 64 : i64
// CHECK: zero.state optimizer @second.m of @second : {{.*}}home = @bucket0.m,{{.*}}start = 64 : i64
// CHECK: zero.parameter @first : tensor<8xf32> {{.*}}home = @bucket0,{{.*}}start = 0 : i64
// SMALL: zero.buckets = array<i64: 128, 128>
// SMALL: zero.parameter @second : {{.*}}home = @bucket1,
// SMALL: zero.parameter @first : {{.*}}home = @bucket0,
zero.parameter @second : tensor<65xf32> {frozen}
zero.state optimizer @second.m of @second : tensor<65xf32>
zero.parameter @first : tensor<8xf32> {frozen}
// A constant has no bucket.
// CHECK: zero.state constant @mask : tensor<8xi1> {placement = #zero.placement<>}
zero.state constant @mask : tensor<8xi1>
func.func @step(%x: tensor<8xf32>, %y: tensor<65xf32>) -> (tensor<8xf32> {zero.binding = "loss"}, tensor<65xf32> {zero.binding = "other_loss"}) {
  %s = zero.read @second : tensor<65xf32>
  %f = zero.read @first : tensor<8xf32>
  %0 = arith.addf %x, %f : tensor<8xf32>
  %1 = arith.addf %y, %s : tensor<65xf32>
  return %0, %1 : tensor<8xf32>, tensor<65xf32>
}

// -----

// Parameters that differ in type, in being trained, or in whether backward reads them never share a
// bucket. Parameters that the step never reads come last.
// CHECK: zero.buckets = array<i64: 128, 128, 128, 128, 128>
// CHECK: zero.parameter @unread {{.*}}home = @bucket4,
// CHECK: zero.parameter @f32 {{.*}}home = @bucket0,
// CHECK: zero.parameter @backward {{.*}}home = @bucket1,
// CHECK: zero.parameter @frozen {{.*}}home = @bucket2,
// CHECK: zero.parameter @f64 {{.*}}home = @bucket3,
zero.parameter @unread : tensor<8xf64> {frozen}
zero.parameter @f32 : tensor<8xf32>
zero.parameter @backward : tensor<8xf32>
zero.parameter @frozen : tensor<8xf32> {frozen}
zero.parameter @f64 : tensor<8xf64>
func.func @step(%x: tensor<8xf32>, %y: tensor<8xf64>) -> (tensor<8xf32> {zero.binding = "loss"}, tensor<8xf64> {zero.binding = "other_loss"}, tensor<8xf32>) {
  %a = zero.read @f32 : tensor<8xf32>
  %b = zero.read @backward : tensor<8xf32>
  %c = zero.read @frozen : tensor<8xf32>
  %d = zero.read @f64 : tensor<8xf64>
  %0 = arith.addf %x, %a : tensor<8xf32>
  %1 = arith.addf %0, %b : tensor<8xf32>
  %2 = arith.addf %1, %c : tensor<8xf32>
  %3 = arith.addf %y, %d : tensor<8xf64>
  %4 = arith.mulf %x, %b : tensor<8xf32>
  return %2, %3, %4 : tensor<8xf32>, tensor<8xf64>, tensor<8xf32>
}

// -----

// Layers are found by their shapes, not by names: one bucket for each layer, one before and one
// after them.
// CHECK: zero.buckets = array<i64: 128, 256, 256, 128>
// CHECK: zero.parameter @embed {{.*}}home = @bucket0,
// CHECK: zero.parameter @w0 {{.*}}home = @bucket1,{{.*}}start = 0
// CHECK: zero.parameter @b0 {{.*}}home = @bucket1,{{.*}}start = 128
// CHECK: zero.parameter @w1 {{.*}}home = @bucket2,{{.*}}start = 0
// CHECK: zero.parameter @b1 {{.*}}home = @bucket2,{{.*}}start = 128
// CHECK: zero.parameter @head {{.*}}home = @bucket3,
zero.parameter @embed : tensor<9xf32> {frozen}
zero.parameter @w0 : tensor<100xf32> {frozen}
zero.parameter @b0 : tensor<10xf32> {frozen}
zero.parameter @w1 : tensor<100xf32> {frozen}
zero.parameter @b1 : tensor<10xf32> {frozen}
zero.parameter @head : tensor<7xf32> {frozen}
func.func @step() -> (tensor<9xf32> {zero.binding = "loss"}, tensor<100xf32> {zero.binding = "w_loss"}, tensor<10xf32> {zero.binding = "b_loss"}, tensor<7xf32> {zero.binding = "h_loss"}) {
  %e = zero.read @embed : tensor<9xf32>
  %w0 = zero.read @w0 : tensor<100xf32>
  %b0 = zero.read @b0 : tensor<10xf32>
  %w1 = zero.read @w1 : tensor<100xf32>
  %b1 = zero.read @b1 : tensor<10xf32>
  %h = zero.read @head : tensor<7xf32>
  %0 = arith.negf %e : tensor<9xf32>
  %1 = arith.negf %w0 : tensor<100xf32>
  %2 = arith.negf %b0 : tensor<10xf32>
  %3 = arith.mulf %w1, %1 : tensor<100xf32>
  %4 = arith.mulf %b1, %2 : tensor<10xf32>
  %5 = arith.negf %h : tensor<7xf32>
  return %0, %3, %4, %5 : tensor<9xf32>, tensor<100xf32>, tensor<10xf32>, tensor<7xf32>
}
