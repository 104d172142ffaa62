// RUN: zero-opt %s --split-input-file --zero-overlap-updates | FileCheck %s

// The slice of the rank is a matrix. The host advances the momentum and computes the step while
// backward runs; the device applies the step behind the last update that moves, that of bucket1.
// CHECK-LABEL: func.func @step
// CHECK: arith.addf
// CHECK-NEXT: %[[G:.*]] = zero.reduce_scatter %{{.*}} {zero.name = "bucket0"}
// CHECK-NEXT: %[[M:.*]] = zero.read @bucket0.m : tensor<64xf32>
// CHECK-NEXT: %[[D:.*]]:2 = zero.launch @direction(%[[M]], %[[G]]) {gradient = 1 : i64, updates = @bucket0}
// CHECK-NEXT: zero.write @bucket0.m, %[[D]]#0 : tensor<64xf32>
// CHECK-NEXT: %[[V:.*]] = zero.member %[[D]]#1 at 0
// CHECK-NEXT: %[[X:.*]] = zero.launch @gram(%[[V]]) :
// CHECK-NEXT: %[[S:.*]] = zero.launch @product(%[[V]], %[[X]]) :
// CHECK-NEXT: %[[H:.*]] = arith.mulf
// CHECK-NEXT: zero.read @bucket1.m : tensor<128xf32>
// CHECK-NEXT: zero.launch @adamw(%{{.*}}, %[[H]]) {gradient = 1 : i64, updates = @bucket1}
// CHECK-NEXT: zero.write @bucket1.m
// CHECK-NEXT: %[[L:.*]] = zero.bucket(%[[S]]) at [0] :
// CHECK-NEXT: zero.read @bucket0 :
// CHECK-NEXT: zero.launch @update(%{{.*}}, %[[L]]) :
// CHECK-NEXT: zero.write @bucket0
// CHECK-NEXT: arith.negf
zero.buffer parameter @bucket0 : tensor<64xf32> shards 2
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 2 on host
zero.buffer parameter @bucket1 : tensor<128xf32> shards 1
zero.buffer optimizer @bucket1.m : tensor<128xf32> shards 1 on host
func.func @step(%x: tensor<128xf32>) -> tensor<128xf32> {
  %g = arith.addf %x, %x : tensor<128xf32>
  %h = arith.mulf %g, %x : tensor<128xf32>
  %z = arith.negf %g : tensor<128xf32>
  %r = zero.reduce_scatter %g {zero.name = "bucket0", zero.schedule = #zero.schedule<epilogue>} : (tensor<128xf32>) -> tensor<64xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %d:2 = zero.launch @direction(%m, %r) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  zero.write @bucket0.m, %d#0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %v = zero.member %d#1 at 0 {zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>) -> tensor<8x8xf32>
  %a = zero.launch @gram(%v) {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = zero.launch @product(%v, %a) {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = zero.bucket(%s) at [0] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<64xf32>
  %p = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %u = zero.launch @update(%p, %l) {zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @bucket0, %u {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %m1 = zero.read @bucket1.m {zero.schedule = #zero.schedule<epilogue>} : tensor<128xf32>
  %n1 = zero.launch @adamw(%m1, %h) {gradient = 1 : i64, updates = @bucket1, zero.schedule = #zero.schedule<epilogue>} : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
  zero.write @bucket1.m, %n1 {zero.schedule = #zero.schedule<epilogue>} : tensor<128xf32>
  return %z : tensor<128xf32>
}
func.func private @adamw(%m: memref<128xf32> {zero.inplace = 0 : i64}, %g: memref<128xf32>) attributes {zero.kernel} {
  return
}
func.func private @direction(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>, %d: memref<64xf32>) attributes {zero.kernel} {
  return
}
func.func private @gram(%d: memref<8x8xf32>, %s: memref<8x8xf32>) attributes {zero.kernel} {
  return
}
func.func private @product(%d: memref<8x8xf32>, %g: memref<8x8xf32>, %s: memref<8x8xf32>) attributes {zero.kernel} {
  return
}
func.func private @update(%p: memref<64xf32> {zero.inplace = 0 : i64}, %s: memref<64xf32>) attributes {zero.kernel} {
  return
}

// -----

// Slices cut the matrix: its owner alone computes the step, of directions that ranks exchange. All
// of it keeps its order, which is that of all ranks.
// CHECK-LABEL: func.func @step
// CHECK: zero.reduce_scatter %{{.*}} {zero.name = "bucket0"}
// CHECK: %[[D:.*]]:2 = zero.launch @direction({{.*}}) {gradient = 1 : i64, updates = @bucket0}
// CHECK-NEXT: zero.write @bucket0.m, %[[D]]#0 : tensor<32xf32>
// CHECK-NEXT: zero.all_gather %[[D]]#1 {zero.name = "bucket0.direction"}
// CHECK: zero.launch @gram(%{{.*}}) if %{{.*}} :
// CHECK: zero.reduce_scatter %{{.*}} {zero.name = "bucket0.step"}
// CHECK: zero.launch @update
// CHECK: arith.negf
zero.buffer parameter @bucket0 : tensor<32xf32> shards 2
zero.buffer optimizer @bucket0.m : tensor<32xf32> shards 2 on host
func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  %owners = arith.constant dense<[true, false]> : tensor<2xi1>
  %own = zero.own_slice %owners : (tensor<2xi1>) -> tensor<1xi1>
  %c = tensor.collapse_shape %own [] : tensor<1xi1> into tensor<i1>
  %g = arith.addf %x, %x : tensor<64xf32>
  %z = arith.negf %g : tensor<64xf32>
  %r = zero.reduce_scatter %g {zero.name = "bucket0", zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>) -> tensor<32xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<32xf32>
  %d:2 = zero.launch @direction(%m, %r) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<32xf32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  zero.write @bucket0.m, %d#0 {zero.schedule = #zero.schedule<epilogue>} : tensor<32xf32>
  %all = zero.all_gather %d#1 {zero.name = "bucket0.direction", zero.schedule = #zero.schedule<epilogue>} : (tensor<32xf32>) -> tensor<64xf32>
  %v = zero.member %all at 0 {zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>) -> tensor<8x8xf32>
  %s = zero.launch @gram(%v) if %c {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = zero.bucket(%s) at [0] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<64xf32>
  %o = zero.reduce_scatter %l {zero.name = "bucket0.step", zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>) -> tensor<32xf32>
  %p = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>} : tensor<32xf32>
  %u = zero.launch @update(%p, %o) {zero.schedule = #zero.schedule<epilogue>} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  zero.write @bucket0, %u {zero.schedule = #zero.schedule<epilogue>} : tensor<32xf32>
  return %z : tensor<64xf32>
}
func.func private @direction(%m: memref<32xf32> {zero.inplace = 0 : i64}, %g: memref<32xf32>, %d: memref<32xf32>) attributes {zero.kernel} {
  return
}
func.func private @gram(%d: memref<8x8xf32>, %s: memref<8x8xf32>) attributes {zero.kernel} {
  return
}
func.func private @update(%p: memref<32xf32> {zero.inplace = 0 : i64}, %s: memref<32xf32>) attributes {zero.kernel} {
  return
}

// -----

// A launch that remains reads the new state, as that of LAMB does: the update remains as well. On a
// disk, the state would occupy the host until then.
// CHECK-LABEL: func.func @step
// CHECK: arith.negf
// CHECK: zero.launch @measure
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on nvme
func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  %g = arith.addf %x, %x : tensor<64xf32>
  %z = arith.negf %g : tensor<64xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %d = zero.launch @measure(%m, %g) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @bucket0.m, %d {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %p = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %u = zero.launch @update(%p, %d) {zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @bucket0, %u {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  return %z : tensor<64xf32>
}
func.func private @measure(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>) attributes {zero.kernel} {
  return
}
func.func private @update(%p: memref<64xf32> {zero.inplace = 0 : i64}, %s: memref<64xf32>) attributes {zero.kernel} {
  return
}

// -----

// A number that a launch reads is computed behind the gradient: what moves follows it.
// CHECK-LABEL: func.func @step
// CHECK: arith.addf
// CHECK-NEXT: arith.negf
// CHECK-NEXT: %[[N:.*]] = zero.launch @number
// CHECK-NEXT: zero.read @bucket0.m
// CHECK-NEXT: zero.launch @direction
// CHECK: zero.launch @scale(%[[N]],
// CHECK: arith.mulf
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1
zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 1 on host
func.func @step(%x: tensor<64xf32>, %r: tensor<f32>) -> tensor<64xf32> {
  %g = arith.addf %x, %x : tensor<64xf32>
  %z = arith.negf %g : tensor<64xf32>
  %n = zero.launch @number(%r) : (tensor<f32>) -> tensor<f32>
  %y = arith.mulf %z, %z : tensor<64xf32>
  %m = zero.read @bucket0.m {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %d:2 = zero.launch @direction(%m, %g) {gradient = 1 : i64, updates = @bucket0, zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  zero.write @bucket0.m, %d#0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %s = zero.launch @scale(%n, %d#1) {zero.schedule = #zero.schedule<epilogue>} : (tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
  %p = zero.read @bucket0 {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  %u = zero.launch @update(%p, %s) {zero.schedule = #zero.schedule<epilogue>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @bucket0, %u {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @number(%r: memref<f32>, %n: memref<f32>) attributes {zero.kernel} {
  return
}
func.func private @direction(%m: memref<64xf32> {zero.inplace = 0 : i64}, %g: memref<64xf32>, %d: memref<64xf32>) attributes {zero.kernel} {
  return
}
func.func private @scale(%n: memref<f32>, %d: memref<64xf32>, %s: memref<64xf32>) attributes {zero.kernel} {
  return
}
func.func private @update(%p: memref<64xf32> {zero.inplace = 0 : i64}, %s: memref<64xf32>) attributes {zero.kernel} {
  return
}
