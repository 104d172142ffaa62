// RUN: zero-opt %s --split-input-file --zero-delay-updates --zero-verify-state-order | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-delay-updates --remarks-filter=.* 2>&1 | FileCheck %s --check-prefix=REMARK

// The update runs before the first reader of its parameters, with the gradient and the scalar that
// the step before has kept; a transfer moves a gradient to its place by itself. The reader follows
// the write.
// CHECK: zero.buffer buffer @rate.delayed : tensor<f32> shards 1
// CHECK: zero.buffer accumulator @bucket0.gradient.delayed : tensor<64xf32> shards 1 on host
// CHECK-LABEL: func.func @step
// CHECK: %[[R:.*]] = zero.read @rate.delayed
// CHECK: %[[G:.*]] = zero.read @bucket0.gradient.delayed
// CHECK: arith.addf
// CHECK: %[[W:.*]] = zero.read @bucket0 {zero.delayed}
// CHECK: %[[M:.*]] = zero.read @bucket0.m {zero.delayed}
// CHECK: %[[U:.*]]:2 = zero.launch @update(%[[W]], %[[M]], %[[G]], %[[R]]) {{.*}}zero.delayed
// CHECK: zero.write @bucket0, %[[U]]#0 {zero.delayed}
// CHECK: zero.write @bucket0.m, %[[U]]#1 {zero.delayed}
// CHECK: %[[V:.*]] = zero.read @bucket0 :
// CHECK: zero.transfer %[[V]] from host to device
// CHECK: %[[P:.*]] = zero.read @bucket0.gradient.delayed
// CHECK: %[[T:.*]] = zero.transfer %{{.*}} from device to host into %[[P]]
// CHECK: %[[S:.*]] = zero.launch @rate
// CHECK-DAG: zero.write @bucket0.gradient.delayed, %[[T]] {zero.schedule = #zero.schedule<epilogue>}
// CHECK-DAG: zero.write @rate.delayed, %[[S]] {zero.schedule = #zero.schedule<epilogue>}
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1 on host
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on host
func.func @step(%x: tensor<64xf32>, %lr: tensor<f32>) -> tensor<64xf32> {
  %v = zero.read @bucket0 : tensor<64xf32>
  %a = arith.addf %x, %x : tensor<64xf32>
  %d = zero.transfer %v from host to device {zero.name = "bucket0"} : tensor<64xf32>
  %g = arith.mulf %d, %a : tensor<64xf32>
  %h = zero.transfer %g from device to host {zero.name = "gradient"} : tensor<64xf32>
  %r = zero.launch @rate(%lr) {zero.name = "rate", zero.schedule = #zero.schedule<epilogue>} : (tensor<f32>) -> tensor<f32>
  %w = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %u:2 = zero.launch @update(%w, %m, %h, %r) {gradient = 2 : i64, host, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>)
  zero.write @bucket0, %u#0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  zero.write @bucket0.m, %u#1 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  return %g : tensor<64xf32>
}
func.func private @rate(%lr: memref<f32>, %out: memref<f32>) attributes {zero.kernel} {
  return
}
func.func private @update(%w: memref<64xf32> {zero.inplace = 0 : i64}, %m: memref<64xf32> {zero.inplace = 1 : i64}, %g: memref<64xf32>, %r: memref<f32>) attributes {zero.kernel} {
  return
}

// -----

// A result of the update that something else reads keeps the update where it is.
// REMARK: remark: {{.*}}1 updates run at the end of their step, because of 'norm'
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.delayed
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1 on host
func.func @step(%x: tensor<64xf32>) -> tensor<f32> {
  %v = zero.read @bucket0 : tensor<64xf32>
  %g = arith.mulf %v, %x : tensor<64xf32>
  %u = zero.launch @update(%v, %g) {gradient = 1 : i64, host, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @bucket0, %u {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %n = zero.launch @norm(%u) {zero.name = "norm", zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
func.func private @update(%w: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
  return
}
func.func private @norm(%w: memref<64xf32>, %out: memref<f32>) attributes {zero.kernel} {
  return
}
