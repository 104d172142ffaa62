// RUN: zero-opt %s --split-input-file --zero-overlap-updates | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-overlap-updates --remarks-filter=.* 2>&1 | FileCheck %s --check-prefix=REMARK

// The update of state on the host is moved after the last reader of its parameters, with the
// scalars that it needs. Another update, of state on the device, remains.
// CHECK-LABEL: func.func @step
// CHECK: arith.mulf
// CHECK-NEXT: %[[R:.*]] = zero.launch @rate
// CHECK-NEXT: %[[M:.*]] = zero.read @bucket0.m
// CHECK-NEXT: %[[N:.*]] = zero.launch @update(%[[M]], %{{.*}}, %[[R]]) {gradient = 1 : i64, updates = @bucket0}
// CHECK-NEXT: zero.write @bucket0.m, %[[N]]
// CHECK-SAME: : tensor<64xf32>
// CHECK: arith.negf
// CHECK: zero.launch @update{{.*}}{gradient = 1 : i64, updates = @bucket1, zero.schedule = #zero.schedule<epilogue>}
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on host
zero.buffer parameter @bucket1 : tensor<64xf32> shards 1
zero.buffer optimizer @bucket1.m : tensor<64xf32> shards 1
func.func @step(%x: tensor<64xf32>, %lr: tensor<f32>) -> tensor<64xf32> {
  %w = zero.read @bucket0 : tensor<64xf32>
  %g = arith.addf %w, %x : tensor<64xf32>
  %y = arith.mulf %w, %g : tensor<64xf32>
  %z = arith.negf %y : tensor<64xf32>
  %r = zero.launch @rate(%lr) {zero.schedule = #zero.schedule<epilogue>} : (tensor<f32>) -> tensor<f32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %n = zero.launch @update(%m, %g, %r) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  zero.write @bucket0.m, %n {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %m1 = zero.read @bucket1.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %n1 = zero.launch @update(%m1, %g, %r) {gradient = 1 : i64, updates = @bucket1, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  zero.write @bucket1.m, %n1 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  return %z : tensor<64xf32>
}
func.func private @rate(%lr: memref<f32>, %out: memref<f32>) attributes {zero.kernel} {
  return
}
func.func private @update(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>, %r: memref<f32>) attributes {zero.kernel} {
  return
}

// -----

// An update of coded state views its gradient, and the sum of it over ranks, in rows of blocks.
// CHECK-LABEL: func.func @step
// CHECK: %[[G:.*]] = arith.addf
// CHECK-NEXT: %[[S:.*]] = zero.reduce_scatter %[[G]]
// CHECK-NEXT: %[[V:.*]] = tensor.expand_shape %[[S]]
// CHECK-NEXT: %[[M:.*]] = zero.read @bucket0.m
// CHECK-NEXT: zero.launch @update(%[[M]], %[[V]]) {gradient = 1 : i64, updates = @bucket0}
// CHECK: arith.negf
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1
zero.buffer optimizer @bucket0.m : tensor<4x16xf32> shards 1 on host
func.func @step(%x: tensor<128xf32>) -> tensor<128xf32> {
  %g = arith.addf %x, %x : tensor<128xf32>
  %z = arith.negf %g : tensor<128xf32>
  %s = zero.reduce_scatter %g {zero.schedule = #zero.schedule<epilogue>} : (tensor<128xf32>) -> tensor<64xf32>
  %v = tensor.expand_shape %s [[0, 1]] output_shape [4, 16] {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32> into tensor<4x16xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<4x16xf32>
  %n = zero.launch @update(%m, %v) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  zero.write @bucket0.m, %n {zero.schedule = #zero.schedule<epilogue>} : tensor<4x16xf32>
  return %z : tensor<128xf32>
}
func.func private @update(%m: memref<4x16xf32> {zero.inplace = 0 : i64}, %g: memref<4x16xf32>) attributes {zero.kernel} {
  return
}

// -----

// A factor that depends on all gradients prevents the move of the update.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @update{{.*}}{{.*}}zero.schedule = #zero.schedule<epilogue>
// REMARK: 1 updates of state on other tiers wait for 'norm', which needs all gradients
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on host
func.func @step(%g: tensor<64xf32>, %lr: tensor<f32>) {
  %f = zero.all_reduce %lr {zero.name = "norm", zero.schedule = #zero.schedule<epilogue>} : tensor<f32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %n = zero.launch @update(%m, %g, %f) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  zero.write @bucket0.m, %n {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  return
}
func.func private @update(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>, %r: memref<f32>) attributes {zero.kernel} {
  return
}

// -----

// A gather may still be moved to the first op that reads what it gathers: the update comes behind
// that op, although it is the only one that reads the parameter after the gradient.
// CHECK-LABEL: func.func @step
// CHECK: zero.all_gather
// CHECK: arith.mulf
// CHECK-NEXT: zero.read @bucket0.m
// CHECK-NEXT: zero.launch @update
zero.buffer parameter @bucket0 : tensor<64xf32> shards 2
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 2 on host
func.func @step(%x: tensor<128xf32>, %g: tensor<64xf32>) -> tensor<128xf32> {
  %w = zero.read @bucket0 : tensor<64xf32>
  %f = zero.all_gather %w {zero.name = "bucket0"} : (tensor<64xf32>) -> tensor<128xf32>
  %h = arith.addf %g, %g : tensor<64xf32>
  %y = arith.mulf %f, %x : tensor<128xf32>
  %z = arith.negf %y : tensor<128xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %n = zero.launch @update(%m, %h) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @bucket0.m, %n {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  return %z : tensor<128xf32>
}
func.func private @update(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
  return
}
