// RUN: zero-opt %s --split-input-file --zero-place-state --zero-assign-buckets | FileCheck %s

// The planner leaves 1 KiB of optimizer state one tier nearer than the rest: the states of the first
// buckets, which are updated last.
// CHECK: zero.buckets = array<i64: 128, 128, 128>
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}host>,
module attributes {zero.plan = #zero.plan<stage = 0, ranks = 1, persist_under = 0, bucket_bytes = 512, params = device, gradients = device, optimizer = host, optimizer_host = 1024, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
  zero.parameter @a : tensor<128xf32>
  zero.parameter @b : tensor<128xf32>
  zero.parameter @c : tensor<128xf32>
  zero.state optimizer @a.m of @a : tensor<128xf32>
  zero.state optimizer @b.m of @b : tensor<128xf32>
  zero.state optimizer @c.m of @c : tensor<128xf32>
  func.func @step(%x: tensor<128xf32>) -> (tensor<128xf32> {zero.binding = "loss"}) {
    %a = zero.read @a : tensor<128xf32>
    %b = zero.read @b : tensor<128xf32>
    %c = zero.read @c : tensor<128xf32>
    %0 = arith.addf %x, %a : tensor<128xf32>
    %1 = arith.addf %0, %b : tensor<128xf32>
    %2 = arith.addf %1, %c : tensor<128xf32>
    return %2 : tensor<128xf32>
  }
}

// -----

// The same where the rest is on nvme. What has no space stays.
// CHECK: zero.buckets = array<i64: 128, 128, 128>
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<{{.*}}nvme>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}nvme>,
module attributes {zero.plan = #zero.plan<stage = 0, ranks = 1, persist_under = 0, bucket_bytes = 512, params = device, gradients = device, optimizer = nvme, optimizer_host = 1023, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
  zero.parameter @a : tensor<128xf32>
  zero.parameter @b : tensor<128xf32>
  zero.parameter @c : tensor<128xf32>
  zero.state optimizer @a.m of @a : tensor<128xf32>
  zero.state optimizer @b.m of @b : tensor<128xf32>
  zero.state optimizer @c.m of @c : tensor<128xf32>
  func.func @step(%x: tensor<128xf32>) -> (tensor<128xf32> {zero.binding = "loss"}) {
    %a = zero.read @a : tensor<128xf32>
    %b = zero.read @b : tensor<128xf32>
    %c = zero.read @c : tensor<128xf32>
    %0 = arith.addf %x, %a : tensor<128xf32>
    %1 = arith.addf %0, %b : tensor<128xf32>
    %2 = arith.addf %1, %c : tensor<128xf32>
    return %2 : tensor<128xf32>
  }
}
