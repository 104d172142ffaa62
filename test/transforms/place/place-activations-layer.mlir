// Activation checkpointing with mode=layer: every layer is a segment that backward recomputes from
// the layer's input. The pass marks each launch of forward with its layer and with the results
// that stay stored (kept), and lists the segments in the order of forward (zero.runs).
// RUN: zero-opt %s --split-input-file --zero-place-activations=mode=layer | FileCheck %s

// Four layers between an embedding and a loss. A layer saves h and its input x. A cut after h would
// also repeat, but more bytes cross it.
// CHECK-LABEL: func.func @step
// CHECK-SAME: zero.runs = [#zero.run<0 to 0>, #zero.run<1 to 1>, #zero.run<2 to 2>, #zero.run<3 to 3>]
// CHECK: zero.launch @embed(%{{.*}}) :
// CHECK: zero.launch @up({{.*}}) {kept = array<i64>, layer = 0 : i64}
// CHECK: zero.launch @down({{.*}}) {kept = array<i64: 0>, layer = 0 : i64}
// CHECK: zero.launch @up({{.*}}) {kept = array<i64>, layer = 1 : i64}
// CHECK: zero.launch @down({{.*}}) {kept = array<i64: 0>, layer = 3 : i64}
// CHECK: zero.launch @loss(%{{.*}}) :

func.func private @embed(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 1 : i64}
func.func private @up(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x4xf32> attributes {zero.kernel, zero.flops = 2 : i64}
func.func private @down(%h: tensor<8x4xf32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 3 : i64}
func.func private @loss(%x: tensor<8x8xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @seed(%l: tensor<f32>) -> tensor<8x8xf32> attributes {zero.kernel}
func.func private @back(%d: tensor<8x8xf32>, %h: tensor<8x4xf32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8x8xf32>
func.func @step(%i: tensor<8x8xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8x8xf32>
  %x0 = zero.launch @embed(%i, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h0 = zero.launch @up(%x0, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x4xf32>
  %x1 = zero.launch @down(%h0, %x0) : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h1 = zero.launch @up(%x1, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x4xf32>
  %x2 = zero.launch @down(%h1, %x1) : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h2 = zero.launch @up(%x2, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x4xf32>
  %x3 = zero.launch @down(%h2, %x2) : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h3 = zero.launch @up(%x3, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x4xf32>
  %x4 = zero.launch @down(%h3, %x3) : (tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = zero.launch @loss(%x4) : (tensor<8x8xf32>) -> tensor<f32>
  %d4 = zero.launch @seed(%l) : (tensor<f32>) -> tensor<8x8xf32>
  %d3 = zero.launch @back(%d4, %h3, %x3) : (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d2 = zero.launch @back(%d3, %h2, %x2) : (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d1 = zero.launch @back(%d2, %h1, %x1) : (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d0 = zero.launch @back(%d1, %h0, %x0) : (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = zero.gradient @w, %d0 : tensor<8x8xf32> -> tensor<8x8xf32>
  return %l : tensor<f32>
}

// -----

// Nothing repeats here. Cuts are then placed where a single value crosses, and each layer has a
// value to recompute. A value with readers other than backward remains stored. The position after
// the two values %a and %m is not a cut. A mask that depends on no parameter may cross a cut.
// CHECK-LABEL: func.func @step
// CHECK-SAME: zero.runs = [#zero.run<0 to 0>, #zero.run<1 to 1>]
// CHECK: zero.launch @mask({{.*}}) {kept = array<i64: 0>, layer = 0 : i64}
// CHECK: zero.launch @one({{.*}}) {kept = array<i64>, layer = 0 : i64}
// CHECK: zero.launch @two({{.*}}) {kept = array<i64: 1>, layer = 0 : i64}
// CHECK: zero.launch @three({{.*}}) {kept = array<i64: 0>, layer = 0 : i64}
// CHECK: zero.launch @four({{.*}}) {kept = array<i64>, layer = 1 : i64}
// CHECK: zero.launch @five({{.*}}) {kept = array<i64: 0>, layer = 1 : i64}
// CHECK: zero.launch @loss(%{{.*}}) :
func.func private @mask(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 9 : i64}
func.func private @one(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 0 : i64}
func.func private @four(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 1 : i64}
func.func private @five(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 2 : i64}
func.func private @two(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) attributes {zero.kernel}
func.func private @three(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
func.func private @loss(%x: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @back(%l: tensor<f32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>, %d: tensor<8x8xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8x8xf32>
zero.state buffer @s : tensor<8x8xf32>
func.func @step(%i: tensor<8x8xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8x8xf32>
  %m = zero.launch @mask(%i) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = zero.launch @one(%i, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b:2 = zero.launch @two(%a, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %c = zero.launch @three(%a, %b#0, %m) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = zero.launch @four(%c, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = zero.launch @five(%d, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = zero.launch @loss(%e, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %z = zero.launch @back(%l, %a, %b#0, %c, %d, %e) : (tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = zero.gradient @w, %z : tensor<8x8xf32> -> tensor<8x8xf32>
  zero.write @s, %b#1 : tensor<8x8xf32>
  return %l : tensor<f32>
}
