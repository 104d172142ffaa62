// RUN: zero-opt %s --split-input-file --zero-pack-arena | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-pack-arena --zero-verify-packing -o /dev/null

// A chain: a value uses the bytes of one that is no longer read. Buffers are live throughout, an
// input until its last reader. Offsets are multiples of 256.
// CHECK: zero.certificate = [#zero.arena<tier = device, peak = 1280, lower_bound = 1280, optimal = true, peak_at = "arith.mulf", most = <parameters = 256, gradients = 0, optimizer = 0, activations = 512, working = 1024>, at_peak = <parameters = 256, gradients = 0, optimizer = 0, activations = 512, working = 512>>]
// CHECK: zero.buffer parameter @bucket0 : tensor<64xf32> shards 1 {zero.offsets = array<i64: [[P:[0-9]+]]>}
// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<100xf32> {zero.offsets = array<i64: {{[0-9]+}}>}
zero.buffer parameter @bucket0 : tensor<64xf32> shards 1
func.func @step(%x: tensor<100xf32>) -> tensor<100xf32> {
  // A read and a view own no bytes.
  // CHECK: zero.read @bucket0 : tensor<64xf32>
  %p = zero.read @bucket0 : tensor<64xf32>
  // CHECK-NEXT: zero.member %{{.*}} at 0 : (tensor<64xf32>) -> tensor<8xf32>
  %w = zero.member %p at 0 : (tensor<64xf32>) -> tensor<8xf32>
  // CHECK: arith.mulf %{{.*}}, %{{.*}} {zero.offsets = array<i64: [[A:[0-9]+]]>}
  %a = arith.mulf %x, %x : tensor<100xf32>
  // CHECK: arith.negf %{{.*}} {zero.offsets = array<i64: [[B:[0-9]+]]>}
  %b = arith.negf %a : tensor<100xf32>
  // CHECK: arith.negf %{{.*}} {zero.offsets = array<i64: [[A]]>}
  %c = arith.negf %b : tensor<100xf32>
  return %c : tensor<100xf32>
}

// -----

// A gradient is computed at its place in the bucket, a reduction works there, an in-place result
// shares its operand's bytes, and scratch is live during one launch.
// CHECK: peak = 1536, lower_bound = 1536, optimal = true, peak_at = "zero.launch"
// CHECK: zero.buffer optimizer @m : tensor<64xf32> shards 2 {zero.offsets = array<i64: [[M:[0-9]+]]>}
zero.buffer optimizer @m : tensor<64xf32> shards 2
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<64xf32>) {
  // Neither member has a separate offset: they are at bytes 0 and 256 of the bucket.
  // CHECK: zero.launch @make(%{{.*}}) {zero.offsets = array<i64: -1, [[SCRATCH:[0-9]+]]>}
  %a = zero.launch @make(%x) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.launch @make(%{{.*}}) {zero.offsets = array<i64: -1, {{[0-9]+}}>}
  %b = zero.launch @make(%x) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.bucket({{.*}}) at [0, 64] {zero.offsets = array<i64: {{[0-9]+}}>}
  %g = zero.bucket (%a, %b) at [0, 64] : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  // CHECK-NEXT: zero.reduce_scatter %{{.*}} in_place {zero.name = "g"} :
  %s = zero.reduce_scatter %g in_place {zero.name = "g"} : (tensor<128xf32>) -> tensor<64xf32>
  // CHECK-NEXT: zero.read @m : tensor<64xf32>
  %m = zero.read @m : tensor<64xf32>
  // CHECK-NEXT: zero.launch @add(%{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %u = zero.launch @add(%m, %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.write @m, %u : tensor<64xf32>
  return
}
func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel, zero.workspace = 512 : i64} {
  return %x : tensor<64xf32>
}
func.func private @add(%m: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  return %m : tensor<?xf32>
}

// -----

// A gradient that is accumulated in place is computed in the bucket from the start.
// CHECK: peak = 768,
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<64xf32>) {
  // CHECK: zero.launch @make(%{{.*}}) : (tensor<64xf32>) -> tensor<64xf32>
  %a = zero.launch @make(%x) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tensor.expand_shape
  %v = tensor.expand_shape %a [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %b = zero.launch @addx(%v, %x) : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %c = tensor.collapse_shape %b [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
  // CHECK: zero.bucket({{.*}}) at [0] {zero.offsets = array<i64: {{[0-9]+}}>}
  %g = zero.bucket (%c) at [0] : (tensor<64xf32>) -> tensor<128xf32>
  %s = zero.reduce_scatter %g in_place {zero.name = "g"} : (tensor<128xf32>) -> tensor<64xf32>
  return
}
func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  return %x : tensor<64xf32>
}
func.func private @addx(%m: tensor<1x64xf32> {zero.inplace = 0 : i64}, %g: tensor<64xf32>) -> tensor<1x64xf32> attributes {zero.kernel} {
  return %m : tensor<1x64xf32>
}

// -----

// The sum must not use the bytes of %a, which has a later reader under another shape. It starts
// from a copy, and both are live. The reader of %b is the last one, and %d uses %c's bytes.
// CHECK: peak = 768,
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: zero.launch @make(%{{.*}}) {zero.offsets = array<i64: [[A:[0-9]+]]>}
  %a = zero.launch @make(%x) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tensor.expand_shape
  %v = tensor.expand_shape %a [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) {zero.offsets = array<i64: [[B:[0-9]+]]>}
  %b = zero.launch @addx(%a, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.launch @flat(%{{.*}}, %{{.*}}) {zero.offsets = array<i64: [[C:[0-9]+]]>}
  %c = zero.launch @flat(%v, %b) : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = zero.launch @addx(%c, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}
func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  return %x : tensor<64xf32>
}
func.func private @addx(%m: tensor<64xf32> {zero.inplace = 0 : i64}, %g: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  return %m : tensor<64xf32>
}
func.func private @flat(%v: tensor<1x64xf32>, %g: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  return %g : tensor<64xf32>
}

// -----

// Neither an input, nor a repeated tensor, nor one whose bucket is read later is overwritten;
// another part of that bucket is. %a and %b are computed in the bucket.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %a = zero.launch @addx(%x, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %b = zero.launch @addx(%a, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g = zero.bucket (%a, %b) at [0, 64] : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %first = zero.member %g at 0 : (tensor<128xf32>) -> tensor<64xf32>
  %second = zero.member %g at 64 : (tensor<128xf32>) -> tensor<64xf32>
  %again = zero.member %g at 32 : (tensor<128xf32>) -> tensor<32xf32>
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) {zero.offsets = array<i64: {{[0-9]+}}>}
  %c = zero.launch @addx(%first, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.launch @addx(%{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = zero.launch @addx(%second, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  zero.launch @use(%again) : (tensor<32xf32>) -> ()
  return %c, %d : tensor<64xf32>, tensor<64xf32>
}
func.func private @addx(%m: tensor<64xf32> {zero.inplace = 0 : i64}, %g: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  return %m : tensor<64xf32>
}
func.func private @use(%x: tensor<32xf32>) attributes {zero.kernel} {
  return
}

// -----

// A search finds the smallest arena.
// CHECK: peak = 3328, lower_bound = 3328, optimal = true
func.func @step(%x: tensor<192xf32>, %y: tensor<256xf32>, %z: tensor<128xf32>) {
  %a = arith.negf %y : tensor<256xf32>
  %b = arith.negf %x : tensor<192xf32>
  %c = arith.negf %a : tensor<256xf32>
  %d = arith.negf %b : tensor<192xf32>
  %e = arith.negf %b : tensor<192xf32>
  return
}

// -----

// The program of another shape takes the first arena that is as small as that of the first shape.
// CHECK: peak = 3584, lower_bound = 3328, peak_at
module attributes {zero.first_arenas = [#zero.arena<tier = device, peak = 3584, peak_at = "",
    most = <parameters = 0, gradients = 0, optimizer = 0, activations = 0, working = 0>,
    at_peak = <parameters = 0, gradients = 0, optimizer = 0, activations = 0, working = 0>>]} {
func.func @step(%x: tensor<192xf32>, %y: tensor<256xf32>, %z: tensor<128xf32>) {
  %a = arith.negf %y : tensor<256xf32>
  %b = arith.negf %x : tensor<192xf32>
  %c = arith.negf %a : tensor<256xf32>
  %d = arith.negf %b : tensor<192xf32>
  %e = arith.negf %b : tensor<192xf32>
  return
}
}

// -----

// A smaller arena than that needs the search.
// CHECK: peak = 3328, lower_bound = 3328, optimal = true
module attributes {zero.first_arenas = [#zero.arena<tier = device, peak = 3456, peak_at = "",
    most = <parameters = 0, gradients = 0, optimizer = 0, activations = 0, working = 0>,
    at_peak = <parameters = 0, gradients = 0, optimizer = 0, activations = 0, working = 0>>]} {
func.func @step(%x: tensor<192xf32>, %y: tensor<256xf32>, %z: tensor<128xf32>) {
  %a = arith.negf %y : tensor<256xf32>
  %b = arith.negf %x : tensor<192xf32>
  %c = arith.negf %a : tensor<256xf32>
  %d = arith.negf %b : tensor<192xf32>
  %e = arith.negf %b : tensor<192xf32>
  return
}
}
