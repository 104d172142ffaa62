// RUN: zero-opt %s --zero-insert-transfers | FileCheck %s

// In a program for GPUs the host runs clones. The update of state on the host names its clone; a
// kernel without one, such as a library call, runs on the device, on a copy of the state that is
// transferred back. Kernels that no launch names are erased.
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]] = zero.read @m
// CHECK: %[[N:.*]] = zero.read @n
// CHECK: %[[G:.*]] = zero.transfer %{{.*}} from device to host
// CHECK: %[[NEW:.*]] = zero.launch @update_host(%[[M]], %[[G]]) {host}
// CHECK: zero.write @m, %[[NEW]]
// CHECK: %[[HERE:.*]] = zero.transfer %[[N]] from host to device
// CHECK: %[[SUM:.*]] = zero.launch @call(%[[HERE]], %{{.*}}) :
// CHECK: %[[OLD:.*]] = zero.read @n
// CHECK: %[[BACK:.*]] = zero.transfer %[[SUM]] from device to host into %[[OLD]]
// CHECK: zero.write @n, %[[BACK]]
// CHECK-NOT: func.func private @update(
// CHECK: func.func private @update_host(
// CHECK: func.func private @other(
// CHECK-NOT: @other_host
module attributes {zero.device = "cuda"} {
  zero.buffer optimizer @m : tensor<64xf32> shards 1 on host
  zero.buffer optimizer @n : tensor<64xf32> shards 1 on host
  func.func @step(%g: tensor<64xf32>) {
    %m = zero.read @m : tensor<64xf32>
    %n = zero.read @n : tensor<64xf32>
    %new = zero.launch @update(%m, %g) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @m, %new : tensor<64xf32>
    %sum = zero.launch @call(%n, %g) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @n, %sum : tensor<64xf32>
    %unused = zero.launch @other(%g) : (tensor<64xf32>) -> tensor<64xf32>
    return
  }
  func.func private @update(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
    %c0 = arith.constant 0 : index
    %0 = memref.load %m[%c0] : memref<64xf32>
    memref.store %0, %m[%c0] : memref<64xf32>
    return
  }
  func.func private @update_host(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>) attributes {zero.kernel, zero.host_kernel} {
    %c0 = arith.constant 0 : index
    %0 = memref.load %m[%c0] : memref<64xf32>
    memref.store %0, %m[%c0] : memref<64xf32>
    return
  }
  func.func private @call(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
    %c0 = arith.constant 0 : index
    %0 = memref.load %m[%c0] : memref<64xf32>
    memref.store %0, %m[%c0] : memref<64xf32>
    return
  }
  func.func private @other(%g: memref<64xf32>, %y: memref<64xf32>) attributes {zero.kernel} {
    return
  }
  func.func private @other_host(%g: memref<64xf32>, %y: memref<64xf32>) attributes {zero.kernel, zero.host_kernel} {
    return
  }
}
