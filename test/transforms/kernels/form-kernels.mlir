// RUN: zero-opt %s --split-input-file --zero-form-kernels | FileCheck %s

// An elementwise node joins its only user. A matrix product starts a kernel, in which a row is
// added. Constants become part of the kernel.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[^ ]+]]: tensor<4x8xf32>
// CHECK: %[[W:.*]] = zero.read @w
// CHECK: %[[B:.*]] = zero.read @b
// CHECK: %[[Y:.*]] = zero.launch @[[K0:k0_matmul]](%[[X]], %[[W]], %[[B]]) {zero.name = "fc"} : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[Z:.*]] = zero.launch @[[K1:k1_mul]](%[[Y]]) {zero.name = "twice"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Z]]
// CHECK: func.func private @[[K0]](%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<8xf32>) -> tensor<4x8xf32> attributes {zero.kernel}
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: func.func private @[[K1]](%{{.*}}: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {zero.kernel}
// CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: math.tanh
// CHECK-DAG: arith.mulf
// CHECK-NOT: onnx.node
zero.parameter @w : tensor<8x8xf32>
zero.parameter @b : tensor<8xf32>
func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = zero.read @w : tensor<8x8xf32>
  %b = zero.read @b : tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %0 = onnx.node "MatMul"(%x, %w) {} opset 13 node "fc" : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.node "Add"(%0, %b) {} opset 14 node "bias" : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = onnx.node "Tanh"(%1) {} opset 13 node "tanh" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = onnx.node "Mul"(%2, %two) {} opset 14 node "twice" : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// A view remains in the step, and an unread value is not computed.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[^ ]+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[V:.*]] = tensor.collapse_shape %[[X]]
// CHECK-NEXT: %[[Y:.*]] = zero.launch @k0_tanh(%[[V]])
// CHECK-NEXT: return %[[Y]]
// CHECK-NOT: math.exp
func.func @step(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %shape = arith.constant dense<[32]> : tensor<1xi64>
  %0 = onnx.node "Exp"(%x) {} opset 13 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.node "Reshape"(%x, %shape) {} opset 14 : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<32xf32>
  %2 = onnx.node "Tanh"(%1) {} opset 13 : (tensor<32xf32>) -> tensor<32xf32>
  return %2 : tensor<32xf32>
}

// -----

// A value that two nodes read is computed once, by a separate kernel.
// CHECK-LABEL: func.func @step
// CHECK: %[[E:.*]] = zero.launch @k0_exp
// CHECK: zero.launch @k1_tanh(%[[E]])
// CHECK: zero.launch @k2_sqrt(%[[E]])
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = onnx.node "Exp"(%x) {} opset 13 : (tensor<8xf32>) -> tensor<8xf32>
  %1 = onnx.node "Tanh"(%0) {} opset 13 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.node "Sqrt"(%0) {} opset 13 : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Indices that come from data are checked before all later ops.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]]:2 = zero.launch @k0_gather({{.*}}) {zero.name = "wte"} : (tensor<16x4xf32>, tensor<2x3xi64>) -> (tensor<2x3x4xf32>, tensor<2xi64>)
// CHECK-NEXT: zero.check %[[Y]]#1 in[-16, 15] "{{.*}}'wte'{{.*}}" {zero.name = "wte"} : tensor<2xi64>
zero.parameter @wte : tensor<16x4xf32>
func.func @step(%ids: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %w = zero.read @wte : tensor<16x4xf32>
  %0 = onnx.node "Gather"(%w, %ids) {axis = 0 : i64} opset 13 node "wte" : (tensor<16x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// A node over rows joins the addition of its first result. Its other results are read later. All
// three are results of one kernel.
// CHECK-LABEL: func.func @step
// CHECK: %[[R:.*]]:3 = zero.launch @[[K:k0_layernormgrad]]({{.*}}) {zero.name = "norm"}
// CHECK-NEXT: zero.launch @k1_softmax(%[[R]]#2)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2,
func.func @step(%dy: tensor<8x4xf32>, %x: tensor<8x4xf32>, %s: tensor<4xf32>, %more: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0:3 = onnx.node "LayerNormGrad"(%dy, %x, %s) {axis = -1 : i64, epsilon = 1.0e-5 : f32} domain "zero" opset 1 node "norm" : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = onnx.node "Add"(%more, %0#0) {} opset 14 node "sum" : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = onnx.node "Softmax"(%1) {} opset 13 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0#1, %0#2, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Not if another result is read before the addition.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @k0_layernormgrad
// CHECK: zero.launch @k1_exp
// CHECK: zero.launch @k2_add
func.func @step(%dy: tensor<8x4xf32>, %x: tensor<8x4xf32>, %s: tensor<4xf32>) -> tensor<8x4xf32> {
  %0:3 = onnx.node "LayerNormGrad"(%dy, %x, %s) {axis = -1 : i64, epsilon = 1.0e-5 : f32} domain "zero" opset 1 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = onnx.node "Exp"(%0#1) {} opset 13 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = onnx.node "Add"(%1, %0#0) {} opset 14 : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
