// RUN: zero-opt %s --split-input-file --zero-schedule-transfers | FileCheck %s

// An update of the host, with its write, moves behind the kernels during which it runs. The gradient
// of the other update leaves the device before that, into bytes of its own.
// CHECK-LABEL: func.func @step
// CHECK: %[[G:.*]] = zero.launch @gradient(
// CHECK: %[[A:.*]] = zero.transfer %[[G]] from device to host
// CHECK: %[[H:.*]] = zero.launch @gradient(%[[G]])
// CHECK: zero.transfer %[[H]] from device to host
// CHECK: %[[M:.*]] = zero.launch @update(%{{.*}}, %[[A]])
// CHECK-NEXT: zero.write @a.m, %[[M]]
zero.buffer optimizer @a.m : tensor<65536xf32> shards 1 on host
zero.buffer optimizer @b.m : tensor<65536xf32> shards 1 on host
func.func @step(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %g = zero.launch @gradient(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
  %a = zero.transfer %g from device to host : tensor<65536xf32>
  %m = zero.read @a.m : tensor<65536xf32>
  %n = zero.launch @update(%m, %a) {gradient = 1 : i64, host, updates = @a} : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  zero.write @a.m, %n : tensor<65536xf32>
  %h = zero.launch @gradient(%g) : (tensor<65536xf32>) -> tensor<65536xf32>
  %b = zero.transfer %h from device to host : tensor<65536xf32>
  %o = zero.read @b.m : tensor<65536xf32>
  %p = zero.launch @update(%o, %b) {gradient = 1 : i64, host, updates = @b} : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  zero.write @b.m, %p : tensor<65536xf32>
  %i = zero.launch @gradient(%h) : (tensor<65536xf32>) -> tensor<65536xf32>
  %j = zero.launch @gradient(%i) : (tensor<65536xf32>) -> tensor<65536xf32>
  %k = zero.launch @gradient(%j) : (tensor<65536xf32>) -> tensor<65536xf32>
  return %k : tensor<65536xf32>
}
func.func private @gradient(tensor<65536xf32>) -> tensor<65536xf32> attributes {zero.kernel}
func.func private @update(%m: memref<65536xf32> {zero.inplace = 0 : i64}, %g: memref<65536xf32>) attributes {zero.kernel} {
  return
}

// -----

// What reads the new state stays behind the update, and the update where it is.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @update
// CHECK-NEXT: zero.write
// CHECK-NEXT: zero.launch @gradient
// CHECK-NEXT: zero.launch @norm
zero.buffer optimizer @a.m : tensor<65536xf32> shards 1 on host
func.func @step(%x: tensor<65536xf32>) -> tensor<f32> {
  %g = zero.launch @gradient(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
  %a = zero.transfer %g from device to host : tensor<65536xf32>
  %m = zero.read @a.m : tensor<65536xf32>
  %n = zero.launch @update(%m, %a) {gradient = 1 : i64, host, updates = @a} : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  zero.write @a.m, %n : tensor<65536xf32>
  %h = zero.launch @gradient(%g) : (tensor<65536xf32>) -> tensor<65536xf32>
  %s = zero.launch @norm(%n) : (tensor<65536xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
func.func private @gradient(tensor<65536xf32>) -> tensor<65536xf32> attributes {zero.kernel}
func.func private @norm(tensor<65536xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @update(%m: memref<65536xf32> {zero.inplace = 0 : i64}, %g: memref<65536xf32>) attributes {zero.kernel} {
  return
}
