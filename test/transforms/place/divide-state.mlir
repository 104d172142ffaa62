// RUN: zero-opt %s --split-input-file --zero-place-state --zero-assign-buckets --zero-divide-state | FileCheck %s

// The states of the first buckets, which are updated last, stay on the device.
// CHECK: nearer = <device = 1024, host = 0, order = optimizer_params>
// CHECK: zero.parameter @a {{.*}}placement = #zero.placement<>,
// CHECK: zero.parameter @b {{.*}}placement = #zero.placement<>,
// CHECK: zero.parameter @c {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}host>,
module attributes {zero.plan = #zero.plan<stage = 0, ranks = 1, persist_under = 0, bucket_bytes = 512, params = device, gradients = device, optimizer = host, nearer = <device = 1024, host = 0, order = optimizer_params>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
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

// What has no space stays, and the plan says what was placed.
// CHECK: nearer = <device = 0, host = 512, order = optimizer_params>
// CHECK: zero.parameter @a {{.*}}placement = #zero.placement<>,
// CHECK: zero.parameter @b {{.*}}placement = #zero.placement<>,
// CHECK: zero.parameter @c {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<{{.*}}nvme>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}nvme>,
module attributes {zero.plan = #zero.plan<stage = 0, ranks = 1, persist_under = 0, bucket_bytes = 512, params = device, gradients = device, optimizer = nvme, nearer = <device = 0, host = 1023, order = optimizer_params>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
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

// All three tiers at once.
// CHECK: nearer = <device = 512, host = 512, order = optimizer_params>
// CHECK: zero.parameter @a {{.*}}placement = #zero.placement<>,
// CHECK: zero.parameter @b {{.*}}placement = #zero.placement<>,
// CHECK: zero.parameter @c {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}nvme>,
module attributes {zero.plan = #zero.plan<stage = 0, ranks = 1, persist_under = 0, bucket_bytes = 512, params = device, gradients = device, optimizer = nvme, nearer = <device = 600, host = 600, order = optimizer_params>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
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

// Parameters are divided like states, before them ...
// CHECK: nearer = <device = 1024, host = 1024, order = params_optimizer>
// CHECK: zero.parameter @a {{.*}}placement = #zero.placement<shard = [@data]>,
// CHECK: zero.parameter @b {{.*}}placement = #zero.placement<shard = [@data]>,
// CHECK: zero.parameter @c {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<{{.*}}nvme>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}nvme>,
module attributes {zero.plan = #zero.plan<stage = 3, ranks = 1, persist_under = 0, bucket_bytes = 512, params = nvme, gradients = device, optimizer = nvme, nearer = <device = 1024, host = 1024, order = params_optimizer>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
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

// ... or after them.
// CHECK: nearer = <device = 1024, host = 1024, order = optimizer_params>
// CHECK: zero.parameter @a {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.parameter @b {{.*}}placement = #zero.placement<{{.*}}nvme>,
// CHECK: zero.parameter @c {{.*}}placement = #zero.placement<{{.*}}nvme>,
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<shard = [@data]>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<shard = [@data]>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}host>,
module attributes {zero.plan = #zero.plan<stage = 3, ranks = 1, persist_under = 0, bucket_bytes = 512, params = nvme, gradients = device, optimizer = nvme, nearer = <device = 1024, host = 1024, order = optimizer_params>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
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

// Nothing moves farther away: state of the host takes no space of the host.
// CHECK: nearer = <device = 512, host = 1024, order = params_optimizer>
// CHECK: zero.parameter @a {{.*}}placement = #zero.placement<shard = [@data]>,
// CHECK: zero.parameter @b {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.parameter @c {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @a.m of @a {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @b.m of @b {{.*}}placement = #zero.placement<{{.*}}host>,
// CHECK: zero.state optimizer @c.m of @c {{.*}}placement = #zero.placement<{{.*}}nvme>,
module attributes {zero.plan = #zero.plan<stage = 3, ranks = 1, persist_under = 0, bucket_bytes = 512, params = host, gradients = device, optimizer = nvme, nearer = <device = 512, host = 1024, order = params_optimizer>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
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
