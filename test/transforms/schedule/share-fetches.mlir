// RUN: zero-opt %s --zero-share-fetches | FileCheck %s

// The update works on the copy that backward has read; that of forward is too early. What only
// updates read is not shared.
// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]] = zero.transfer %{{.*}} from nvme to host {zero.name = "forward"}
// CHECK: %[[B:.*]] = zero.transfer %{{.*}} from nvme to host {zero.name = "backward"}
// CHECK: zero.transfer %[[B]] from host to device
// CHECK-NOT: "own"
// CHECK: %[[M:.*]] = zero.transfer %{{.*}} from nvme to host {zero.name = "moment"}
// CHECK: zero.launch @update(%[[B]], %[[M]], %{{.*}})
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1 on nvme
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on nvme
func.func @step(%x: tensor<64xf32>) -> (tensor<64xf32> {zero.binding = "loss"}) {
  %w0 = zero.read @bucket0 : tensor<64xf32>
  %h0 = zero.transfer %w0 from nvme to host {zero.name = "forward"} : tensor<64xf32>
  %d0 = zero.transfer %h0 from host to device {zero.name = "forward"} : tensor<64xf32>
  %loss = arith.mulf %d0, %x : tensor<64xf32>
  %w1 = zero.read @bucket0 : tensor<64xf32>
  %h1 = zero.transfer %w1 from nvme to host {zero.name = "backward"} : tensor<64xf32>
  %d1 = zero.transfer %h1 from host to device {zero.name = "backward"} : tensor<64xf32>
  %g = arith.mulf %d1, %x : tensor<64xf32>
  %gh = zero.transfer %g from device to host {zero.name = "gradient"} : tensor<64xf32>
  %w2 = zero.read @bucket0 : tensor<64xf32>
  %h2 = zero.transfer %w2 from nvme to host {zero.name = "own"} : tensor<64xf32>
  %m = zero.read @bucket0.m : tensor<64xf32>
  %mh = zero.transfer %m from nvme to host {zero.name = "moment"} : tensor<64xf32>
  %u:2 = zero.launch @update(%h2, %mh, %gh) {gradient = 2 : i64, host, updates = @bucket0} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %w3 = zero.read @bucket0 : tensor<64xf32>
  %w4 = zero.transfer %u#0 from host to nvme into %w3 : tensor<64xf32> {zero.name = "bucket0"} : tensor<64xf32>
  zero.write @bucket0, %w4 : tensor<64xf32>
  %m1 = zero.read @bucket0.m : tensor<64xf32>
  %m2 = zero.transfer %u#1 from host to nvme into %m1 : tensor<64xf32> {zero.name = "bucket0.m"} : tensor<64xf32>
  zero.write @bucket0.m, %m2 : tensor<64xf32>
  return %loss : tensor<64xf32>
}
func.func private @update(%w: memref<64xf32> {zero.inplace = 0 : i64}, %m: memref<64xf32> {zero.inplace = 1 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
  return
}
