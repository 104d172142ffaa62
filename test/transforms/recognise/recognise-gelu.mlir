// RUN: zero-opt %s --zero-recognise-gelu | FileCheck %s

// The form of GPT-2's activation from the dynamo exporter.
// CHECK-LABEL: func.func @tanh_form
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
// CHECK-NOT: onnx.node "Tanh"
// CHECK: %[[Y:.*]] = onnx.node "Gelu"(%[[X]]) {approximate = "tanh"} opset 20 node "mul_3"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @tanh_form(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %three = arith.constant dense<3.0> : tensor<f32>
  %cubic = arith.constant dense<0.044714998453855515> : tensor<f32>
  %scale = arith.constant dense<0.7978845834732056> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = onnx.node "Mul"(%x, %half) {} opset 18 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = onnx.node "Pow"(%x, %three) {} opset 18 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = onnx.node "Mul"(%1, %cubic) {} opset 18 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = onnx.node "Add"(%x, %2) {} opset 18 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = onnx.node "Mul"(%3, %scale) {} opset 18 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = onnx.node "Tanh"(%4) {} opset 18 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = onnx.node "Add"(%5, %one) {} opset 18 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %7 = onnx.node "Mul"(%0, %6) {} opset 18 node "mul_3" : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %7 : tensor<4x8xf32>
}

// x * scale * (1 + 0.044715 * x * x), with everything in another order. x is itself a product.
// CHECK-LABEL: func.func @fast_form
// CHECK: %[[X:.*]] = onnx.node "Mul"(%arg0, %{{.*}})
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Gelu"(%[[X]]) {approximate = "tanh"}
// CHECK-NEXT: return %[[Y]]
func.func @fast_form(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %cubic = arith.constant dense<0.044715> : tensor<f32>
  %scale = arith.constant dense<0.79788456> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %x = onnx.node "Mul"(%arg0, %half) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = onnx.node "Mul"(%cubic, %x) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = onnx.node "Mul"(%x, %0) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.node "Add"(%one, %1) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = onnx.node "Mul"(%scale, %2) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.node "Mul"(%3, %x) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = onnx.node "Tanh"(%4) {} opset 18 : (tensor<8xf32>) -> tensor<8xf32>
  %6 = onnx.node "Add"(%one, %5) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = onnx.node "Mul"(%6, %x) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %8 = onnx.node "Div"(%7, %two) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %8 : tensor<8xf32>
}

// The form of BERT: 0.5 multiplies the sum first.
// CHECK-LABEL: func.func @erf_form
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK: %[[Y:.*]] = onnx.node "Gelu"(%[[X]]) {approximate = "none"} opset 20
// CHECK-NEXT: return %[[Y]]
func.func @erf_form(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %root = arith.constant dense<1.4142135> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = onnx.node "Div"(%x, %root) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.node "Erf"(%0) {} opset 18 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.node "Add"(%1, %one) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.node "Mul"(%half, %2) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.node "Mul"(%x, %3) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// An inexact constant, another x, and a chain with another reader: each remains.
// CHECK-LABEL: func.func @not_root_two
// CHECK-NOT: "Gelu"
// CHECK: return
func.func @not_root_two(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %root = arith.constant dense<1.4142> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = onnx.node "Div"(%x, %root) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.node "Erf"(%0) {} opset 18 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.node "Add"(%1, %one) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.node "Mul"(%half, %2) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.node "Mul"(%x, %3) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func.func @other_factor
// CHECK-NOT: "Gelu"
// CHECK: return
func.func @other_factor(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %root = arith.constant dense<1.4142135> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = onnx.node "Div"(%x, %root) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.node "Erf"(%0) {} opset 18 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.node "Add"(%1, %one) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.node "Mul"(%half, %2) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.node "Mul"(%y, %3) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func.func @shared_sum
// CHECK-NOT: "Gelu"
// CHECK: return
func.func @shared_sum(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %root = arith.constant dense<1.4142135> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = onnx.node "Div"(%x, %root) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.node "Erf"(%0) {} opset 18 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.node "Add"(%1, %one) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.node "Mul"(%half, %2) {} opset 18 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.node "Mul"(%x, %3) {} opset 18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4, %2 : tensor<8xf32>, tensor<8xf32>
}
