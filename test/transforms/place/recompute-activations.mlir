// RUN: zero-opt %s --split-input-file --zero-recompute-activations | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-recompute-activations --cse --canonicalize --loop-invariant-code-motion | FileCheck %s

// Layer 1 keeps the values of layer 0 that it reads. Its inner value is recomputed where backward
// first reads it, with only the ops that it needs; then that of layer 0. The check is not repeated,
// nor are unread values.
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.runs
// CHECK: %[[A0:.*]]:2 = zero.launch @split(%[[X:.*]]) {layer = 0 : i64}
// CHECK: zero.check
// CHECK: %[[B0:.*]] = zero.launch @add(%[[A0]]#0, %[[X]]) {layer = 0 : i64}
// CHECK: %[[A1:.*]]:2 = zero.launch @split(%[[B0]])
// CHECK: %[[B1:.*]] = zero.launch @add(%[[A1]]#0, %[[B0]])
// CHECK: %[[L:.*]] = zero.launch @loss(%[[B1]])
// CHECK: %[[D1:.*]] = zero.launch @grad(%[[L]], %[[B1]])
// CHECK-NEXT: %[[C1:.*]]:2 = zero.launch @split(%[[B0]]) {layer = 1 : i64, zero.recompute = 1 : i64}
// CHECK-NEXT: %[[R1:.*]] = tensor.collapse_shape %[[C1]]#0
// CHECK-NEXT: %[[E1:.*]] = zero.launch @flat(%[[D1]], %[[R1]])
// CHECK-NEXT: %[[C0:.*]]:2 = zero.launch @split(%[[X]]) {layer = 0 : i64, zero.recompute = 0 : i64}
// CHECK-NEXT: %[[R0:.*]] = tensor.collapse_shape %[[C0]]#0
// CHECK-NEXT: zero.launch @flat(%[[E1]], %[[R0]])
// CHECK-NOT: zero.check
// CHECK: return
func.func private @split(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<2xi64>) attributes {zero.kernel, zero.flops = 10 : i64}
func.func private @add(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel, zero.flops = 10 : i64}
func.func private @loss(%x: tensor<8x8xf32>) -> tensor<f32> attributes {zero.kernel}
func.func private @grad(%l: tensor<f32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
func.func private @flat(%d: tensor<8x8xf32>, %x: tensor<64xf32>) -> tensor<8x8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8x8xf32>
func.func @step(%x: tensor<8x8xf32>) -> (tensor<f32> {zero.binding = "loss"})
    attributes {zero.runs = [#zero.run<0 to 0>, #zero.run<1 to 1>]} {
  %a0:2 = zero.launch @split(%x) {kept = array<i64: 1>, layer = 0 : i64} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<2xi64>)
  zero.check %a0#1 in [0, 7] "range" : tensor<2xi64>
  %r0 = tensor.collapse_shape %a0#0 [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %b0 = zero.launch @add(%a0#0, %x) {kept = array<i64: 0>, layer = 0 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %a1:2 = zero.launch @split(%b0) {kept = array<i64: 1>, layer = 1 : i64} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<2xi64>)
  %r1 = tensor.collapse_shape %a1#0 [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %b1 = zero.launch @add(%a1#0, %b0) {kept = array<i64: 0>, layer = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = zero.launch @loss(%b1) : (tensor<8x8xf32>) -> tensor<f32>
  %d1 = zero.launch @grad(%l, %b1) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e1 = zero.launch @flat(%d1, %r1) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %e0 = zero.launch @flat(%e1, %r0) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %g = zero.gradient @w, %e0 : tensor<8x8xf32> -> tensor<8x8xf32>
  return %l : tensor<f32>
}

// -----

// No values between layers are kept. Layer 2 gets its input by an advance over layers 0 and 1, and
// layer 1 by another one over layer 0. Launches are recomputed as often as the runs say.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @loss
// CHECK-NEXT: %[[A:.*]] = zero.launch @tanh(%[[X:.*]]) {layer = 0 : i64, zero.recompute = 2 : i64}
// CHECK-NEXT: %[[B:.*]] = zero.launch @tanh(%[[A]]) {layer = 1 : i64, zero.recompute = 2 : i64}
// CHECK-NEXT: %[[C:.*]] = zero.launch @tanh(%[[B]]) {layer = 2 : i64, zero.recompute = 2 : i64}
// CHECK-NEXT: %[[D2:.*]] = zero.launch @grad(%{{.*}}, %[[C]])
// CHECK-NEXT: %[[A2:.*]] = zero.launch @tanh(%[[X]]) {layer = 0 : i64, zero.recompute = 1 : i64}
// CHECK-NEXT: %[[B2:.*]] = zero.launch @tanh(%[[A2]]) {layer = 1 : i64, zero.recompute = 1 : i64}
// CHECK-NEXT: %[[D1:.*]] = zero.launch @grad(%[[D2]], %[[B2]])
// CHECK-NEXT: %[[A3:.*]] = zero.launch @tanh(%[[X]]) {layer = 0 : i64, zero.recompute = 0 : i64}
// CHECK-NEXT: zero.launch @grad(%[[D1]], %[[A3]])
func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
func.func private @loss(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
func.func private @grad(%l: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8xf32>
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32> {zero.binding = "loss"})
    attributes {zero.runs = [#zero.run<0 to 0>, #zero.run<1 to 1 after 0, 0>, #zero.run<2 to 2 after 0, 1>]} {
  %a = zero.launch @tanh(%x) {layer = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %b = zero.launch @tanh(%a) {layer = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %c = zero.launch @tanh(%b) {layer = 2 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %l = zero.launch @loss(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %d2 = zero.launch @grad(%l, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %d1 = zero.launch @grad(%d2, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %d0 = zero.launch @grad(%d1, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g = zero.gradient @w, %d0 : tensor<8xf32> -> tensor<8xf32>
  return %l : tensor<8xf32>
}

// -----

// The addend that @into overwrites is recomputed with it, although it is marked as kept, because
// its bytes are overwritten.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @loss
// CHECK-NEXT: %[[A:.*]] = zero.launch @tanh(%[[X:.*]]) {layer = 0 : i64, zero.recompute = 0 : i64}
// CHECK-NEXT: %[[B:.*]] = zero.launch @into(%[[X]], %[[A]]) {layer = 0 : i64, zero.recompute = 0 : i64}
// CHECK-NEXT: zero.launch @grad(%{{.*}}, %[[B]])
func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
func.func private @into(%x: tensor<8xf32>, %y: tensor<8xf32> {zero.inplace = 0 : i64}) -> tensor<8xf32> attributes {zero.kernel}
func.func private @loss(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
func.func private @grad(%l: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8xf32>
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32> {zero.binding = "loss"})
    attributes {zero.runs = [#zero.run<0 to 0>]} {
  %a = zero.launch @tanh(%x) {kept = array<i64: 0>, layer = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %b = zero.launch @into(%x, %a) {layer = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %l = zero.launch @loss(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %d = zero.launch @grad(%l, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g = zero.gradient @w, %d : tensor<8xf32> -> tensor<8xf32>
  return %l : tensor<8xf32>
}
