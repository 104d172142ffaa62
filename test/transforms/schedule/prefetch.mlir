// RUN: zero-opt %s --zero-phase-schedule=prefetch-bytes=4KiB | FileCheck %s
// RUN: zero-opt %s --zero-phase-schedule=prefetch-bytes=8KiB | FileCheck %s --check-prefix=TWO
// RUN: zero-opt %s --zero-phase-schedule | FileCheck %s --check-prefix=NONE

// With 4 KiB, each gather runs beside the kernel before the one that reads it, and with 8 KiB beside
// the two kernels before. The bytes of a gradient stay reserved while kernels run beside its
// reduction. Without the option collectives stay in place.

// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = zero.all_gather {{.*}} {zero.name = "a"}
// CHECK-NEXT: zero.read @b
// CHECK-NEXT: %[[B:.*]] = zero.all_gather
// CHECK-NEXT: zero.launch @layer(%{{.*}}, %[[A]])
// CHECK-NEXT: zero.read @c
// CHECK-NEXT: %[[C:.*]] = zero.all_gather
// CHECK-NEXT: zero.launch @layer(%{{.*}}, %[[B]])
// CHECK-NEXT: zero.launch @layer(%{{.*}}, %[[C]])
// CHECK-NEXT: %[[G:.*]] = zero.launch @gradient
// CHECK-NEXT: zero.launch @small
// CHECK-NEXT: zero.launch @small
// CHECK-NEXT: zero.reduce_scatter %[[G]]

// TWO: zero.all_gather {{.*}} {zero.name = "a"}
// TWO-NEXT: zero.read @b
// TWO-NEXT: zero.all_gather
// TWO-NEXT: zero.read @c
// TWO-NEXT: zero.all_gather
// TWO-NEXT: zero.launch @layer

// NONE: zero.all_gather {{.*}} {zero.name = "a"}
// NONE-NEXT: zero.launch @layer
// NONE-NEXT: zero.read @b
// NONE-NEXT: zero.all_gather
// NONE-NEXT: zero.launch @layer
// NONE-NEXT: zero.read @c
// NONE-NEXT: zero.all_gather
// NONE-NEXT: zero.launch @layer
// NONE-NEXT: %[[G:.*]] = zero.launch @gradient
// NONE-NEXT: zero.reduce_scatter %[[G]]
module attributes {zero.ranks = 2 : i64, zero.stage = 3 : i64, zero.micro_batches = 1 : i64} {
  zero.buffer parameter @a : tensor<512xf32> shards 2
  zero.buffer parameter @b : tensor<512xf32> shards 2
  zero.buffer parameter @c : tensor<512xf32> shards 2
  func.func @step(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<512xf32>) {
    %0 = zero.read @a : tensor<512xf32>
    %a = zero.all_gather %0 {zero.name = "a"} : (tensor<512xf32>) -> tensor<1024xf32>
    %1 = zero.launch @layer(%x, %a) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %2 = zero.read @b : tensor<512xf32>
    %b = zero.all_gather %2 {zero.name = "b"} : (tensor<512xf32>) -> tensor<1024xf32>
    %3 = zero.launch @layer(%1, %b) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %4 = zero.read @c : tensor<512xf32>
    %c = zero.all_gather %4 {zero.name = "c"} : (tensor<512xf32>) -> tensor<1024xf32>
    %5 = zero.launch @layer(%3, %c) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %6 = zero.launch @gradient(%5) : (tensor<1024xf32>) -> tensor<1024xf32>
    %7 = zero.reduce_scatter %6 {zero.name = "g"} : (tensor<1024xf32>) -> tensor<512xf32>
    %8 = zero.launch @small(%5) : (tensor<1024xf32>) -> tensor<1024xf32>
    %9 = zero.launch @small(%8) : (tensor<1024xf32>) -> tensor<1024xf32>
    return %9, %7 : tensor<1024xf32>, tensor<512xf32>
  }
  func.func private @layer(tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}
  func.func private @gradient(tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}
  func.func private @small(tensor<1024xf32>) -> tensor<1024xf32> attributes {zero.kernel}
}
