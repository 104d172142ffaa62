// Elementwise nodes read what their operands were broadcast from, as long as their results keep
// their shapes.
// RUN: zero-opt %s --pass-pipeline='builtin.module(func.func(zero-fold-broadcasts))' | FileCheck %s

// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: onnx.node "Mul"(%arg0, %arg1)
// CHECK-NEXT: return
func.func @scalar(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  %shape = arith.constant dense<[4, 8]> : tensor<2xi64>
  %e = onnx.node "Expand"(%s, %shape) {} opset 23 : (tensor<f32>, tensor<2xi64>) -> tensor<4x8xf32>
  %y = onnx.node "Mul"(%x, %e) {} opset 23 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// One of two broadcasts has to stay, or the result would be smaller.
// CHECK-LABEL: func.func @both
// CHECK: %[[E:.*]] = onnx.node "Expand"(%arg1, %{{.*}})
// CHECK: onnx.node "Add"(%arg0, %[[E]])
func.func @both(%a: tensor<f32>, %b: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %shape = arith.constant dense<[4, 8]> : tensor<2xi64>
  %ea = onnx.node "Expand"(%a, %shape) {} opset 23 : (tensor<f32>, tensor<2xi64>) -> tensor<4x8xf32>
  %eb = onnx.node "Expand"(%b, %shape) {} opset 23
      : (tensor<1x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %y = onnx.node "Add"(%ea, %eb) {} opset 23 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A product does not broadcast its rows.
// CHECK-LABEL: func.func @product
// CHECK: %[[E:.*]] = onnx.node "Expand"
// CHECK: onnx.node "MatMul"(%arg0, %[[E]])
func.func @product(%x: tensor<4x8xf32>, %s: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %shape = arith.constant dense<[8, 8]> : tensor<2xi64>
  %e = onnx.node "Expand"(%s, %shape) {} opset 23
      : (tensor<1x8xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  %y = onnx.node "MatMul"(%x, %e) {} opset 23
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
