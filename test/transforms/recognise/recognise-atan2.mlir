// RUN: zero-opt %s --zero-recognise-atan2 | FileCheck %s

// As both exporters of PyTorch write it. The operands broadcast.
// CHECK-LABEL: func.func @atan2
// CHECK-NOT: onnx.node
// CHECK: %[[R:.*]] = onnx.node "Atan2"(%arg0, %arg1) {} domain "zero" opset 1 node "r" : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @atan2(%y: tensor<3x8xf32>, %x: tensor<8xf32>) -> tensor<3x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %pi = arith.constant dense<3.14159274> : tensor<f32>
  %q = onnx.node "Div"(%y, %x) {} opset 18 : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %a = onnx.node "Atan"(%q) {} opset 18 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %g = onnx.node "Greater"(%y, %zero) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xi1>
  %p = onnx.node "Add"(%a, %pi) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "Sub"(%a, %pi) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %t = onnx.node "Where"(%g, %p, %m) {} opset 18 : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %l = onnx.node "Less"(%x, %zero) {} opset 18 : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %r = onnx.node "Where"(%l, %t, %a) {} opset 18 node "r" : (tensor<8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// Another turn, and the quadrants of the other operand, remain.
// CHECK-LABEL: func.func @others
// CHECK-NOT: "Atan2"
// CHECK: return
func.func @others(%y: tensor<3x8xf32>, %x: tensor<3x8xf32>)
    -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %pi = arith.constant dense<3.14159274> : tensor<f32>
  %turn = arith.constant dense<3.0> : tensor<f32>
  %q = onnx.node "Div"(%y, %x) {} opset 18 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %a = onnx.node "Atan"(%q) {} opset 18 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %g = onnx.node "Greater"(%y, %zero) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xi1>
  %p = onnx.node "Add"(%a, %turn) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "Sub"(%a, %turn) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %t = onnx.node "Where"(%g, %p, %m) {} opset 18 : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %l = onnx.node "Less"(%x, %zero) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xi1>
  %r = onnx.node "Where"(%l, %t, %a) {} opset 18 : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %p2 = onnx.node "Add"(%a, %pi) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m2 = onnx.node "Sub"(%a, %pi) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %t2 = onnx.node "Where"(%g, %p2, %m2) {} opset 18 : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %l2 = onnx.node "Less"(%y, %zero) {} opset 18 : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xi1>
  %r2 = onnx.node "Where"(%l2, %t2, %a) {} opset 18 : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %r, %r2 : tensor<3x8xf32>, tensor<3x8xf32>
}
