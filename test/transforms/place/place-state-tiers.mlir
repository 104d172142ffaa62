// Stage 3 with offload: parameters and optimizer states are placed on nvme, gradients on host. A
// parameter under persist-under stays in full on the device, but its gradient and its state are
// offloaded. Scalars of the optimizer stay on the device.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 params=nvme gradients=host optimizer=nvme persist-under=33" | FileCheck %s

// CHECK: zero.parameter @w : tensor<8xf32> {gradient = #zero.placement<shard = [@data], tier = host>, placement = #zero.placement<>}
// CHECK: zero.state optimizer @w.m of @w : tensor<8xf32> {placement = #zero.placement<shard = [@data], tier = nvme>}
// CHECK: zero.parameter @large : tensor<16xf32> {{.*}}placement = #zero.placement<shard = [@data], tier = nvme>}
// CHECK: zero.state optimizer @power : tensor<f64> {placement = #zero.placement<>}
zero.parameter @w : tensor<8xf32>
zero.state optimizer @w.m of @w : tensor<8xf32>
zero.parameter @large : tensor<16xf32>
zero.parameter @frozen : tensor<8xf32> {frozen}
zero.state optimizer @power : tensor<f64>
zero.state constant @mask : tensor<8xi1>
