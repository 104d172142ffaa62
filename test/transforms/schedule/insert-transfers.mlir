// RUN: zero-opt %s --split-input-file --zero-insert-transfers --verify-diagnostics | FileCheck %s

// State on nvme is read through the host, where its update runs, and is written back. The gradient
// leaves the device. The parameter, which the kernel only writes, is not read.
// CHECK-LABEL: func.func @step
// CHECK: %[[W:.*]] = zero.read @bucket0 : tensor<64xbf16>
// CHECK: %[[M:.*]] = zero.read @bucket0.m : tensor<64xf32>
// CHECK: %[[ROOM:.*]] = zero.reserve on host {zero.name = "bucket0"} : tensor<64xbf16>
// CHECK: %[[HERE:.*]] = zero.transfer %[[M]] from nvme to host {zero.name = "bucket0.m"} : tensor<64xf32>
// CHECK: %[[G:.*]] = zero.transfer %{{.*}} from device to host
// CHECK: %[[NEW:.*]]:2 = zero.launch @update(%[[ROOM]], %[[HERE]], %[[G]]) {host}
// CHECK: %[[OLD:.*]] = zero.read @bucket0
// CHECK: %[[BACK:.*]] = zero.transfer %[[NEW]]#0 from host to device into %[[OLD]] : tensor<64xbf16>
// CHECK: zero.write @bucket0, %[[BACK]]
// CHECK: %[[OLDM:.*]] = zero.read @bucket0.m
// CHECK: %[[BACKM:.*]] = zero.transfer %[[NEW]]#1 from host to nvme into %[[OLDM]] : tensor<64xf32>
// CHECK: zero.write @bucket0.m, %[[BACKM]]
zero.buffer parameter @bucket0 : tensor<64xbf16> shards 1
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on nvme
func.func @step(%g: tensor<64xf32>) {
  %w = zero.read @bucket0 : tensor<64xbf16>
  %m = zero.read @bucket0.m : tensor<64xf32>
  %new:2 = zero.launch @update(%w, %m, %g) : (tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xbf16>, tensor<64xf32>)
  zero.write @bucket0, %new#0 : tensor<64xbf16>
  zero.write @bucket0.m, %new#1 : tensor<64xf32>
  return
}
func.func private @update(%w: memref<64xbf16> {zero.inplace = 0 : i64}, %m: memref<64xf32> {zero.inplace = 1 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %m[%c0] : memref<64xf32>
  %1 = memref.load %g[%c0] : memref<64xf32>
  %2 = arith.addf %0, %1 : f32
  memref.store %2, %m[%c0] : memref<64xf32>
  %3 = arith.truncf %2 : f32 to bf16
  memref.store %3, %w[%c0] : memref<64xbf16>
  return
}

// -----

// Under a condition the kernel may not run. The unchanged state is then written back.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.reserve
// CHECK: %[[W:.*]] = zero.read @bucket0
// CHECK: zero.transfer %[[W]] from device to host
zero.buffer parameter @bucket0 : tensor<64xbf16> shards 1
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on host
func.func @step(%g: tensor<64xf32>, %counts: tensor<i1>) {
  %w = zero.read @bucket0 : tensor<64xbf16>
  %m = zero.read @bucket0.m : tensor<64xf32>
  %new:2 = zero.launch @update(%w, %m, %g) if %counts : (tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xbf16>, tensor<64xf32>)
  zero.write @bucket0, %new#0 : tensor<64xbf16>
  zero.write @bucket0.m, %new#1 : tensor<64xf32>
  return
}
func.func private @update(%w: memref<64xbf16> {zero.inplace = 0 : i64}, %m: memref<64xf32> {zero.inplace = 1 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %m[%c0] : memref<64xf32>
  %3 = arith.truncf %0 : f32 to bf16
  memref.store %3, %w[%c0] : memref<64xbf16>
  return
}

// -----

// Parameters on the host are copied to the device before they are gathered, once for all readers.
// Each rank copies its own shard.
// CHECK-LABEL: func.func @step
// CHECK: %[[SHARD:.*]] = zero.transfer %{{.*}} from host to device {zero.name = "bucket0"} : tensor<32xf32>
// CHECK: zero.all_gather %[[SHARD]]
// CHECK-NOT: zero.transfer
zero.buffer parameter @bucket0 : tensor<32xf32> shards 2 on host
func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = zero.read @bucket0 : tensor<32xf32>
  %f = zero.all_gather %w {zero.name = "bucket0"} : (tensor<32xf32>) -> tensor<64xf32>
  %y = arith.addf %x, %f : tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// A sum over ranks that waits on nvme: it is written there afterwards and read back for its reader.
// CHECK-LABEL: func.func @step
// CHECK: %[[SUM:.*]] = zero.reduce_scatter
// CHECK-NEXT: %[[HOST:.*]] = zero.transfer %[[SUM]] from device to host
// CHECK-NEXT: %[[DISK:.*]] = zero.transfer %[[HOST]] from host to nvme
// CHECK: %[[AGAIN:.*]] = zero.transfer %[[DISK]] from nvme to host {{.*}}zero.schedule = #zero.schedule<epilogue>
// CHECK: %[[HERE:.*]] = zero.transfer %[[AGAIN]] from host to device {{.*}}zero.schedule = #zero.schedule<epilogue>
// CHECK: arith.negf
// CHECK: return %[[HERE]]
func.func @step(%x: tensor<64xf32>) -> tensor<32xf32> {
  %s = zero.reduce_scatter %x {zero.name = "g", zero.tier = #zero<tier nvme>} : (tensor<64xf32>) -> tensor<32xf32>
  %y = arith.negf %s {zero.schedule = #zero.schedule<epilogue>} : tensor<32xf32>
  return %s : tensor<32xf32>
}
