// RUN: zero-opt %s --split-input-file --zero-schedule-transfers | FileCheck %s

// An update of the epilogue waits for a value that needs all gradients. Its state is read from disk
// in the last micro-batch, as far as the host has memory for it.
// CHECK-LABEL: func.func @step
// CHECK: %[[M:.*]] = zero.read @m : tensor
// CHECK-NEXT: %[[H:.*]] = zero.transfer %[[M]] from nvme to host {zero.schedule = #zero.schedule<micro_batch, last>}
// CHECK-NEXT: zero.launch @forward
// CHECK-NEXT: %[[N:.*]] = zero.launch @norm{{.*}} {zero.schedule = #zero.schedule<epilogue>}
// CHECK-NEXT: zero.launch @update(%[[H]], %[[N]]) {zero.schedule = #zero.schedule<epilogue>}
module attributes {zero.micro_batches = 2 : i64} {
  zero.buffer optimizer @m : tensor<1024xf32> shards 1 on nvme
  func.func @step(%x: tensor<1024xf32>) {
    %a = zero.launch @forward(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
    %n = zero.launch @norm(%a) {zero.schedule = #zero.schedule<epilogue>} : (tensor<1024xf32>) -> tensor<1xf32>
    %m = zero.read @m {zero.schedule = #zero.schedule<epilogue>} : tensor<1024xf32>
    %h = zero.transfer %m from nvme to host {zero.schedule = #zero.schedule<epilogue>} : tensor<1024xf32>
    %u = zero.launch @update(%h, %n) {zero.schedule = #zero.schedule<epilogue>} : (tensor<1024xf32>, tensor<1xf32>) -> tensor<1024xf32>
    %d = zero.transfer %u from host to nvme into %m : tensor<1024xf32> {zero.schedule = #zero.schedule<epilogue>} : tensor<1024xf32>
    zero.write @m, %d {zero.schedule = #zero.schedule<epilogue>} : tensor<1024xf32>
    return
  }
  func.func private @forward(tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}
  func.func private @norm(tensor<1024xf32>) -> tensor<1xf32> attributes {zero.kernel}
  func.func private @update(tensor<1024xf32>, tensor<1xf32>) -> tensor<1024xf32> attributes {zero.kernel}
}

// -----

// State that micro-batches write is read in the epilogue.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @forward
// CHECK: zero.write @sum
// CHECK: zero.read @sum {zero.schedule = #zero.schedule<epilogue>}
// CHECK-NEXT: zero.transfer %{{.*}} from nvme to host {zero.schedule = #zero.schedule<epilogue>}
module attributes {zero.micro_batches = 2 : i64} {
  zero.buffer optimizer @sum : tensor<1024xf32> shards 1 on nvme
  func.func @step(%x: tensor<1024xf32>) {
    %a = zero.launch @forward(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
    zero.write @sum, %a : tensor<1024xf32>
    %m = zero.read @sum {zero.schedule = #zero.schedule<epilogue>} : tensor<1024xf32>
    %h = zero.transfer %m from nvme to host {zero.schedule = #zero.schedule<epilogue>} : tensor<1024xf32>
    zero.launch @use(%h) {zero.schedule = #zero.schedule<epilogue>} : (tensor<1024xf32>) -> ()
    return
  }
  func.func private @forward(tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}
  func.func private @use(tensor<1024xf32>) attributes {zero.kernel}
}
