// RUN: zero-opt %s --split-input-file --zero-average-buffers | FileCheck %s

// One bucket per element type. The collectives are before the epilogue and the writes at its end. A
// counter of the optimizer is not a buffer, and what is written in the epilogue is the same on all
// ranks.
zero.state buffer @a : tensor<3xf32> {splat = 0.0}
zero.state buffer @b : tensor<100xf32> {splat = 0.0}
zero.state buffer @wide : tensor<2xf64> {splat = 0.0}
zero.state buffer @key : tensor<2xi64> {splat = 0.0}
zero.state optimizer @count : tensor<f64> {splat = 1.0}
func.func private @tick(%c: tensor<f64>) -> tensor<f64> attributes {zero.kernel} {
  return %c : tensor<f64>
}

// CHECK-LABEL: func.func @step
func.func @step(%a: tensor<3xf32>, %b: tensor<100xf32>, %w: tensor<2xf64>, %k: tensor<2xi64>) {
  zero.write @a, %a : tensor<3xf32>
  zero.write @wide, %w : tensor<2xf64>
  zero.write @b, %b : tensor<100xf32>
  %c = zero.read @count : tensor<f64>
  %n = zero.launch @tick(%c) {zero.schedule = #zero.schedule<epilogue>} : (tensor<f64>) -> tensor<f64>
  zero.write @count, %n {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  zero.write @key, %k {zero.schedule = #zero.schedule<epilogue>} : tensor<2xi64>
  return
}
// CHECK: %[[BUCKET:.*]] = zero.bucket(%arg0, %arg1) at [0, 64] : (tensor<3xf32>, tensor<100xf32>) -> tensor<192xf32>
// CHECK: %[[MEAN:.*]] = zero.rank_mean %[[BUCKET]]
// CHECK: %[[A:.*]] = zero.member %[[MEAN]] at 0
// CHECK: %[[B:.*]] = zero.member %[[MEAN]] at 64
// CHECK: %[[WIDE:.*]] = zero.bucket(%arg2) at [0]
// CHECK: zero.rank_mean %[[WIDE]]
// CHECK: zero.launch @tick
// CHECK: zero.write @count
// CHECK-NEXT: zero.write @key, %arg3
// CHECK: zero.write @a, %[[A]] {zero.schedule = #zero.schedule<epilogue>}
// CHECK-NEXT: zero.write @b, %[[B]] {zero.schedule = #zero.schedule<epilogue>}
// CHECK-NEXT: zero.write @wide, %{{.*}} {zero.schedule = #zero.schedule<epilogue>}

// -----

// Each micro-batch continues from the result of the previous one: the values are stored in
// accumulators, which are initialized with the buffers. They are averaged once, in the epilogue,
// and remain unchanged in a step that does not count.
module attributes {zero.micro_batches = 4 : i64} {
// CHECK-DAG: zero.buffer accumulator @a.carried : tensor<3xf32> shards 1
// CHECK-DAG: zero.buffer accumulator @b.carried : tensor<100xf32> shards 1
zero.state buffer @a : tensor<3xf32> {splat = 0.0}
zero.state buffer @b : tensor<100xf32> {splat = 0.0}
zero.state optimizer @count : tensor<f64> {splat = 1.0}
func.func private @tick(%c: tensor<f64>) -> tensor<f64> attributes {zero.kernel}

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<3xf32>, %y: tensor<100xf32>, %ok: tensor<i1>, %l: tensor<f32>) -> (tensor<i1> {zero.binding = "applied"}) {
  %before = zero.rank_mean %l {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  // CHECK: zero.rank_mean %arg3 {zero.schedule = #zero.schedule<prologue>}
  // CHECK: %[[A:.*]] = zero.read @a : tensor<3xf32>
  // CHECK: %[[ATA:.*]] = zero.read @a.carried : tensor<3xf32>
  // CHECK: %[[A0:.*]] = zero.launch @carry(%[[ATA]], %[[A]]) {zero.name = "buffers", zero.schedule = #zero.schedule<micro_batch, first>}
  // CHECK: %[[B:.*]] = zero.read @b : tensor<100xf32>
  // CHECK: %[[ATB:.*]] = zero.read @b.carried : tensor<100xf32>
  // CHECK: %[[B0:.*]] = zero.launch @carry(%[[ATB]], %[[B]]) {zero.name = "buffers", zero.schedule = #zero.schedule<micro_batch, first>}
  // CHECK: %[[NEXT:.*]] = arith.addf %[[A0]], %arg0
  // CHECK: %[[A1:.*]] = zero.launch @carry(%[[A0]], %[[NEXT]]) {zero.carries, zero.name = "buffers"} :
  %a = zero.read @a : tensor<3xf32>
  %next = arith.addf %a, %x : tensor<3xf32>
  zero.write @a, %next : tensor<3xf32>
  // A value that was not read is also passed on.
  // CHECK: %[[B1:.*]] = zero.launch @carry(%[[B0]], %arg1) {zero.carries, zero.name = "buffers"} :
  zero.write @b, %y : tensor<100xf32>
  // CHECK: %[[BUCKET:.*]] = zero.bucket(%[[A1]], %[[B1]]) at [0, 64] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[MEAN:.*]] = zero.rank_mean %[[BUCKET]] {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[MA:.*]] = zero.member %[[MEAN]] at 0 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: %[[MB:.*]] = zero.member %[[MEAN]] at 64 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK: zero.launch @tick
  // CHECK: zero.write @count, %{{[^ ]*}} {zero.schedule = #zero.schedule<epilogue>}
  // CHECK-NEXT: zero.write @a, %[[MA]] if %arg2 {zero.schedule = #zero.schedule<epilogue>}
  // CHECK-NEXT: zero.write @b, %[[MB]] if %arg2 {zero.schedule = #zero.schedule<epilogue>}
  %c = zero.read @count : tensor<f64>
  %n = zero.launch @tick(%c) {zero.schedule = #zero.schedule<epilogue>} : (tensor<f64>) -> tensor<f64>
  zero.write @count, %n {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  return %ok : tensor<i1>
}
// CHECK: func.func private @carry(%[[TO:.*]]: tensor<?xf32> {zero.inplace = 0 : i64}, %[[FROM:.*]]: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[FROM]] : tensor<?xf32>) outs(%[[TO]] : tensor<?xf32>)
}

// -----

// One micro-batch of a step that may not count.
zero.state buffer @a : tensor<3xf32> {splat = 0.0}
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<3xf32>, %ok: tensor<i1>) -> (tensor<i1> {zero.binding = "applied"}) {
  // CHECK-NOT: @carry
  // CHECK: %[[BUCKET:.*]] = zero.bucket(%arg0) at [0] :
  // CHECK: %[[MEAN:.*]] = zero.rank_mean %[[BUCKET]] : tensor<64xf32>
  // CHECK: %[[MA:.*]] = zero.member %[[MEAN]] at 0
  // CHECK: zero.write @a, %[[MA]] if %arg1 {zero.schedule = #zero.schedule<epilogue>}
  zero.write @a, %x : tensor<3xf32>
  return %ok : tensor<i1>
}

// -----

// The key of random numbers is not averaged: it is the same on all ranks.
zero.state buffer @key : tensor<2xui32> {required}

// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.rank_mean
// CHECK: zero.write @key, %arg0 {zero.schedule = #zero.schedule<epilogue>}
func.func @step(%key: tensor<2xui32>) {
  zero.write @key, %key : tensor<2xui32>
  return
}
