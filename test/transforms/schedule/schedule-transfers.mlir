// RUN: zero-opt %s --split-input-file --zero-schedule-transfers | FileCheck %s

// A fetch is moved earlier, beside a kernel that takes as long as the fetch. A write back also gets
// the time of a kernel before its bytes may be reused.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @big
// CHECK-NEXT: zero.launch @small
// CHECK-NEXT: %[[W:.*]] = zero.read @w
// CHECK-NEXT: %[[HERE:.*]] = zero.transfer %[[W]] from host to device
// CHECK-NEXT: %[[D:.*]] = zero.launch @small(
// CHECK-NEXT: zero.launch @pair(%[[D]], %[[HERE]])
// CHECK-NEXT: zero.launch @small(
// CHECK-NEXT: zero.transfer %{{.*}} from device to host into
zero.buffer parameter @w : tensor<1024xf32> shards 1 on host
func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %b = zero.launch @big(%x) : (tensor<1024xf32>) -> tensor<4096xf32>
  %c = zero.launch @small(%b) : (tensor<4096xf32>) -> tensor<1024xf32>
  %d = zero.launch @small(%c) : (tensor<1024xf32>) -> tensor<1024xf32>
  %w = zero.read @w : tensor<1024xf32>
  %h = zero.transfer %w from host to device : tensor<1024xf32>
  %e = zero.launch @pair(%d, %h) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %n = zero.transfer %d from device to host into %w : tensor<1024xf32> : tensor<1024xf32>
  zero.write @w, %n : tensor<1024xf32>
  %f = zero.launch @small(%e) : (tensor<1024xf32>) -> tensor<1024xf32>
  return %f : tensor<1024xf32>
}
func.func private @big(tensor<1024xf32>) -> tensor<4096xf32> attributes {zero.kernel}
func.func private @small(%x: tensor<?xf32>) -> tensor<1024xf32> attributes {zero.kernel} {
  %0 = tensor.empty() : tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
func.func private @pair(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}

// -----

// A parameter from disk is gathered beside the kernel before the one that reads it, and arrives on
// the host before that. The device has no space for it while @shrink runs.
// CHECK-LABEL: func.func @step
// CHECK: zero.transfer %{{.*}} from nvme to host
// CHECK: zero.launch @big
// CHECK-NEXT: zero.launch @shrink
// CHECK-NEXT: zero.transfer %{{.*}} from host to device
// CHECK-NEXT: zero.all_gather
// CHECK-NEXT: zero.launch @small
// CHECK-NEXT: zero.launch @pair
zero.buffer parameter @w : tensor<512xf32> shards 2 on nvme
func.func @step(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = zero.launch @big(%x) : (tensor<1024xf32>) -> tensor<1048576xf32>
  %b = zero.launch @shrink(%a) : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %c = zero.launch @small(%b) : (tensor<1048576xf32>) -> tensor<1024xf32>
  %w = zero.read @w : tensor<512xf32>
  %h = zero.transfer %w from nvme to host : tensor<512xf32>
  %d = zero.transfer %h from host to device : tensor<512xf32>
  %f = zero.all_gather %d : (tensor<512xf32>) -> tensor<1024xf32>
  %e = zero.launch @pair(%c, %f) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %e : tensor<1024xf32>
}
func.func private @big(tensor<1024xf32>) -> tensor<1048576xf32> attributes {zero.kernel}
func.func private @shrink(tensor<1048576xf32>) -> tensor<1048576xf32> attributes {zero.kernel}
func.func private @small(tensor<1048576xf32>) -> tensor<1024xf32> attributes {zero.kernel}
func.func private @pair(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}
