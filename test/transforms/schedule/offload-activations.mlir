// RUN: zero-opt %s --split-input-file --zero-offload-activations | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-offload-activations=tier=nvme --remark-format=emitRemark --remarks-filter=offload 2>&1 | FileCheck %s --check-prefix=NVME
// RUN: zero-opt %s --split-input-file --zero-offload-activations --zero-insert-transfers | FileCheck %s --check-prefix=MOVED

// The results of the first layer wait on the host, the second one under another shape. The result
// of the last layer is read immediately after it. A mean of all elements is small. Labels are an
// input.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @split(%{{.*}}) {zero.tier = [#zero<tier host>, #zero<tier host>]}
// CHECK: zero.launch @mean(%{{.*}}) : (
// CHECK: zero.launch @relu(%{{.*}}) {zero.tier = [#zero<tier host>]}
// CHECK: zero.launch @relu(%{{.*}}) : (
// NVME: remark: {{.*}}3 of 5 values that forward saves are offloaded until backward: 3072 bytes on nvme, of 4104
// NVME: zero.launch @split(%{{.*}}) {zero.tier = [#zero<tier nvme>, #zero<tier nvme>]}

// Forward reads its results on the device. Backward reads the copies, and a copy with two readers
// is made only once.
// MOVED-LABEL: func.func @step
// MOVED: %[[A:.*]]:2 = zero.launch @split
// MOVED-NEXT: %[[A1:.*]] = zero.transfer %[[A]]#1 from device to host
// MOVED-NEXT: %[[A0:.*]] = zero.transfer %[[A]]#0 from device to host
// MOVED: %[[FLAT:.*]] = tensor.collapse_shape %[[A]]#1
// MOVED: %[[B:.*]] = zero.launch @relu(%[[FLAT]])
// MOVED: %[[B0:.*]] = zero.transfer %[[B]] from device to host
// MOVED: zero.launch @loss
// MOVED: %[[B1:.*]] = zero.transfer %[[B0]] from host to device
// MOVED-NEXT: zero.launch @grad(%{{.*}}, %[[B1]])
// MOVED-NEXT: %[[A2:.*]] = zero.transfer %[[A1]] from host to device
// MOVED-NEXT: %[[FLAT2:.*]] = tensor.collapse_shape %[[A2]]
// MOVED-NEXT: zero.launch @grad(%{{.*}}, %[[FLAT2]])
// MOVED: %[[A3:.*]] = zero.transfer %[[A0]] from host to device
// MOVED-NEXT: zero.launch @both(%{{.*}}, %[[A3]])
// MOVED-NOT: zero.transfer
// MOVED: zero.launch @both(%{{.*}}, %[[A3]])
// MOVED-NOT: zero.transfer
func.func private @split(%x: memref<16x16xf32>, %a: memref<16x16xf32>, %b: memref<16x16xf32>) attributes {zero.kernel}
func.func private @relu(%x: memref<256xf32>, %y: memref<256xf32>) attributes {zero.kernel}
func.func private @mean(%x: memref<256xf32>, %y: memref<2xf32>) attributes {zero.kernel}
func.func private @loss(%x: memref<256xf32>, %l: memref<16xi64>, %y: memref<f32>) attributes {zero.kernel}
func.func private @first(%x: memref<256xf32>, %l: memref<16xi64>, %y: memref<256xf32>) attributes {zero.kernel}
func.func private @grad(%d: memref<256xf32>, %x: memref<256xf32>, %y: memref<256xf32>) attributes {zero.kernel}
func.func private @both(%d: memref<256xf32>, %x: memref<16x16xf32>, %y: memref<256xf32>) attributes {zero.kernel}
func.func private @late(%d: memref<256xf32>, %m: memref<2xf32>, %y: memref<256xf32>) attributes {zero.kernel}
zero.buffer parameter @w : tensor<256xf32> shards 1
func.func @step(%x: tensor<16x16xf32>, %labels: tensor<16xi64>) -> (tensor<f32> {zero.binding = "loss"}) {
  %a:2 = zero.launch @split(%x) : (tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
  %flat = tensor.collapse_shape %a#1 [[0, 1]] : tensor<16x16xf32> into tensor<256xf32>
  %m = zero.launch @mean(%flat) : (tensor<256xf32>) -> tensor<2xf32>
  %b = zero.launch @relu(%flat) : (tensor<256xf32>) -> tensor<256xf32>
  %b2 = zero.launch @late(%b, %m) : (tensor<256xf32>, tensor<2xf32>) -> tensor<256xf32>
  %c = zero.launch @relu(%b2) : (tensor<256xf32>) -> tensor<256xf32>
  %l = zero.launch @loss(%c, %labels) : (tensor<256xf32>, tensor<16xi64>) -> tensor<f32>
  %d = zero.launch @first(%c, %labels) : (tensor<256xf32>, tensor<16xi64>) -> tensor<256xf32>
  %e = zero.launch @grad(%d, %b) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %f = zero.launch @grad(%e, %flat) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %g = zero.launch @late(%f, %m) : (tensor<256xf32>, tensor<2xf32>) -> tensor<256xf32>
  %h = zero.launch @both(%g, %a#0) : (tensor<256xf32>, tensor<16x16xf32>) -> tensor<256xf32>
  %i = zero.launch @both(%h, %a#0) : (tensor<256xf32>, tensor<16x16xf32>) -> tensor<256xf32>
  zero.write @w, %i : tensor<256xf32>
  return %l : tensor<f32>
}
