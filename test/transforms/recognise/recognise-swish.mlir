// RUN: zero-opt %s --zero-recognise-swish | FileCheck %s

// CHECK-LABEL: func.func @silu
// CHECK: %[[Y:.*]] = onnx.node "Swish"(%arg0) {alpha = 1.000000e+00 : f32} opset 24 node "y"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @silu(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %s = onnx.node "Sigmoid"(%x) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Mul"(%x, %s) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// The approximate form of GELU.
// CHECK-LABEL: func.func @quick
// CHECK: onnx.node "Swish"(%arg0) {alpha = 1.702000e+00 : f32}
// CHECK-NOT: onnx.node
// CHECK: return
func.func @quick(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %k = arith.constant dense<1.702> : tensor<f32>
  %a = onnx.node "Mul"(%k, %x) {} opset 18 node "a" : (tensor<f32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %s = onnx.node "Sigmoid"(%a) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Mul"(%s, %x) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// A gate of another value, and a gate with another reader: both remain.
// CHECK-LABEL: func.func @gate
// CHECK-NOT: "Swish"
// CHECK: return
func.func @gate(%x: tensor<3x8xf32>, %z: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %s = onnx.node "Sigmoid"(%z) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Mul"(%x, %s) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @read_gate
// CHECK-NOT: "Swish"
// CHECK: return
func.func @read_gate(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %s = onnx.node "Sigmoid"(%x) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Mul"(%x, %s) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y, %s : tensor<3x8xf32>, tensor<3x8xf32>
}
