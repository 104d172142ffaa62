// RUN: zero-opt %s --split-input-file --zero-pack-arena | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-pack-arena --zero-verify-packing -o /dev/null

// A chain: a value takes the bytes of one that is read no more. Buffers and
// inputs are there throughout; offsets are multiples of 256.
// CHECK: zero.certificate = {activations = array<i64: 512, 512>, gradients = array<i64: 0, 0>, lower_bound = 1280 : i64, "optimizer state" = array<i64: 0, 0>, parameters = array<i64: 256, 256>, peak = 1280 : i64, peak_at = "arith.mulf", working = array<i64: {{[0-9]+}}, {{[0-9]+}}>}
// CHECK: zero.buffer parameter @bucket0 : tensor<64xf32> shards 1 {zero.offsets = array<i64: [[P:[0-9]+]]>}
// CHECK: func.func @step(%{{.*}}: tensor<100xf32> {zero.offsets = array<i64: {{[0-9]+}}>}
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1
func.func @step(%x: tensor<100xf32>) -> tensor<100xf32> {
  // A read and a view own no bytes.
  // CHECK: zero.read @bucket0 : tensor<64xf32>
  %p = zero.read @bucket0 : tensor<64xf32>
  // CHECK-NEXT: zero.member %{{.*}} at 0 : (tensor<64xf32>) -> tensor<8xf32>
  %w = zero.member %p at 0 : (tensor<64xf32>) -> tensor<8xf32>
  // CHECK: arith.mulf %{{.*}}, %{{.*}} {zero.offsets = array<i64: [[A:[0-9]+]]>}
  %a = arith.mulf %x, %x : tensor<100xf32>
  // CHECK: arith.negf %{{.*}} {zero.offsets = array<i64: [[B:[0-9]+]]>}
  %b = arith.negf %a : tensor<100xf32>
  // CHECK: arith.negf %{{.*}} {zero.offsets = array<i64: [[A]]>}
  %c = arith.negf %b : tensor<100xf32>
  return %c : tensor<100xf32>
}
