// A collective that no pass creates: packing, lifetimes and the proof of the schedule use only its
// interfaces.
// RUN: zero-opt %s --split-input-file --zero-pack-arena --zero-verify-packing --zero-verify-schedule --verify-diagnostics | FileCheck %s

// One result has separate bytes. The other one uses those of its operand, which is then free.
// CHECK: peak = 768,
module attributes {zero.ranks = 3 : i64} {
  // CHECK: zero.buffer parameter @w : tensor<64xf32> shards 1 {zero.offsets = array<i64: [[W:[0-9]+]]>}
  zero.buffer parameter @w : tensor<64xf32> shards 1
  // CHECK-LABEL: func.func @step
  func.func @step(%x: tensor<64xf32>) {
    %w = zero.read @w : tensor<64xf32>
    // CHECK: zero.broadcast %{{.*}} from 1 {zero.offsets = array<i64: {{[0-9]+}}>}
    %fresh = zero.broadcast %x from 1 : (tensor<64xf32>) -> tensor<64xf32>
    // CHECK: zero.launch @add(%{{.*}}, %{{.*}}) : (
    %sum = zero.launch @add(%w, %fresh) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    // CHECK: zero.broadcast %[[SUM:.*]] from 2 into %[[SUM]] : (
    %all = zero.broadcast %sum from 2 into %sum : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @w, %all : tensor<64xf32>
    return
  }
  func.func private @add(%w: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %w : tensor<?xf32>
  }
}

// -----

// Its bytes are read once more.
// expected-error @+1 {{internal: command 2 ('late'): it reads bytes 0 to 256 of the arena, which command 1 ('all', lane COLLECTIVE) wrote last, with another value}}
module attributes {zero.ranks = 3 : i64} {
  func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
    %room = zero.launch @copy(%x) {zero.name = "first"} : (tensor<64xf32>) -> tensor<64xf32>
    %all = zero.broadcast %x from 1 into %room {zero.name = "all"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %late = zero.launch @copy(%room) {zero.name = "late"} : (tensor<64xf32>) -> tensor<64xf32>
    return %late : tensor<64xf32>
  }
  func.func private @copy(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
    return %x : tensor<64xf32>
  }
}
