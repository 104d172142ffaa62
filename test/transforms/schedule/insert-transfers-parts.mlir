// RUN: zero-opt %s --zero-insert-transfers --split-input-file | FileCheck %s

// A part of a value on a disk need not begin at one of its blocks: the whole is copied once, and parts
// are views of the copy.
// CHECK-LABEL: func.func @step
// CHECK: %[[D:.*]] = zero.read @disk
// CHECK: %[[H:.*]] = zero.transfer %[[D]] from nvme to host
// CHECK: %[[HERE:.*]] = zero.transfer %[[H]] from host to device
// CHECK: %[[A:.*]] = zero.member %[[HERE]] at 0
// CHECK: zero.launch @sum(%[[A]], %{{.*}})
// CHECK-NOT: zero.transfer
// CHECK: %[[B:.*]] = zero.member %[[HERE]] at 16
// CHECK: zero.bucket(%[[B]], %[[A]])
zero.buffer optimizer @disk : tensor<32xf32> shards 1 on nvme
func.func @step(%x: tensor<16xf32>) -> tensor<32xf32> {
  %d = zero.read @disk : tensor<32xf32>
  %a = zero.member %d at 0 : (tensor<32xf32>) -> tensor<16xf32>
  %b = zero.member %d at 16 : (tensor<32xf32>) -> tensor<16xf32>
  %s = zero.launch @sum(%a, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %o = zero.bucket(%b, %a) at [0, 16] : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  return %o : tensor<32xf32>
}
func.func private @sum(%a: memref<16xf32>, %x: memref<16xf32>, %o: memref<16xf32>) attributes {zero.kernel} {
  return
}

// -----

// Of a value on the host only the part that is read is copied.
// CHECK-LABEL: func.func @step
// CHECK: %[[D:.*]] = zero.read @list
// CHECK: %[[B:.*]] = zero.member %[[D]] at 16
// CHECK: zero.transfer %[[B]] from host to device {{.*}}: tensor<16xf32>
zero.buffer optimizer @list : tensor<32xf32> shards 1 on host
func.func @step() -> tensor<16xf32> {
  %d = zero.read @list : tensor<32xf32>
  %b = zero.member %d at 16 : (tensor<32xf32>) -> tensor<16xf32>
  %o = zero.bucket(%b) at [0] : (tensor<16xf32>) -> tensor<16xf32>
  return %o : tensor<16xf32>
}
