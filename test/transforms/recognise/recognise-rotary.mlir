// RUN: zero-opt %s --zero-recognise-rotary --remark-format=emitRemark --remarks-filter=recognise 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// REMARK-COUNT-2: rotary embedding at node

// The form of LLaMA's rotary embedding from the dynamo exporter.
// CHECK-LABEL: func.func @slices
// CHECK: %[[Y:.*]] = onnx.node "Rotary"(%arg0, %arg1, %arg2) {} domain "zero" opset 1 node "y"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @slices(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
  %zero = arith.constant dense<0> : tensor<1xi64>
  %half = arith.constant dense<4> : tensor<1xi64>
  %far = arith.constant dense<9223372036854775807> : tensor<1xi64>
  %axis = arith.constant dense<2> : tensor<1xi64>
  %one = arith.constant dense<1> : tensor<1xi64>
  %x1 = onnx.node "Slice"(%x, %zero, %half, %axis, %one) {} opset 18 node "x1" : (tensor<2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x4xf32>
  %x2 = onnx.node "Slice"(%x, %half, %far, %axis, %one) {} opset 18 node "x2" : (tensor<2x3x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3x4xf32>
  %neg = onnx.node "Neg"(%x2) {} opset 18 node "neg" : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = onnx.node "Concat"(%neg, %x1) {axis = -1 : i64} opset 18 node "t" : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %c = onnx.node "Mul"(%x, %cos) {} opset 18 node "c" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %s = onnx.node "Mul"(%t, %sin) {} opset 18 node "s" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y = onnx.node "Add"(%c, %s) {} opset 18 node "y" : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// With Split, and with operands in the other order.
// CHECK-LABEL: func.func @split
// CHECK: onnx.node "Rotary"(%arg0, %arg1, %arg2)
// CHECK-NOT: onnx.node
// CHECK: return
func.func @split(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
  %x1, %x2 = onnx.node "Split"(%x) {axis = 2 : i64, num_outputs = 2 : i64} opset 18 : (tensor<2x3x8xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  %neg = onnx.node "Neg"(%x2) {} opset 18 node "neg" : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = onnx.node "Concat"(%neg, %x1) {axis = -1 : i64} opset 18 node "t" : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %c = onnx.node "Mul"(%cos, %x) {} opset 18 node "c" : (tensor<3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %s = onnx.node "Mul"(%sin, %t) {} opset 18 node "s" : (tensor<3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %y = onnx.node "Add"(%s, %c) {} opset 18 node "y" : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// The other half negated, another x, and rotated halves with another reader: each remains.
// CHECK-LABEL: func.func @other_half
// CHECK-NOT: "Rotary"
// CHECK: return
func.func @other_half(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
  %x1, %x2 = onnx.node "Split"(%x) {axis = 2 : i64, num_outputs = 2 : i64} opset 18 : (tensor<2x3x8xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  %neg = onnx.node "Neg"(%x1) {} opset 18 node "neg" : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = onnx.node "Concat"(%neg, %x2) {axis = -1 : i64} opset 18 node "t" : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %c = onnx.node "Mul"(%x, %cos) {} opset 18 node "c" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %s = onnx.node "Mul"(%t, %sin) {} opset 18 node "s" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y = onnx.node "Add"(%c, %s) {} opset 18 node "y" : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @other_x
// CHECK-NOT: "Rotary"
// CHECK: return
func.func @other_x(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>, %z: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %x1, %x2 = onnx.node "Split"(%x) {axis = 2 : i64, num_outputs = 2 : i64} opset 18 : (tensor<2x3x8xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  %neg = onnx.node "Neg"(%x2) {} opset 18 node "neg" : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = onnx.node "Concat"(%neg, %x1) {axis = -1 : i64} opset 18 node "t" : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %c = onnx.node "Mul"(%z, %cos) {} opset 18 node "c" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %s = onnx.node "Mul"(%t, %sin) {} opset 18 node "s" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y = onnx.node "Add"(%c, %s) {} opset 18 node "y" : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @read_halves
// CHECK-NOT: "Rotary"
// CHECK: return
func.func @read_halves(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %x1, %x2 = onnx.node "Split"(%x) {axis = 2 : i64, num_outputs = 2 : i64} opset 18 : (tensor<2x3x8xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  %neg = onnx.node "Neg"(%x2) {} opset 18 node "neg" : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = onnx.node "Concat"(%neg, %x1) {axis = -1 : i64} opset 18 node "t" : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %c = onnx.node "Mul"(%x, %cos) {} opset 18 node "c" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %s = onnx.node "Mul"(%t, %sin) {} opset 18 node "s" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y = onnx.node "Add"(%c, %s) {} opset 18 node "y" : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y, %t : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}
