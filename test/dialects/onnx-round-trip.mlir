// Every op and kind of attribute of the onnx dialect.
// RUN: zero-opt %s --verify-roundtrip > %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %s --mlir-print-op-generic | zero-opt | diff %t -
// RUN: zero-opt %s --emit-bytecode | zero-opt | diff %t -

// CHECK-LABEL: func.func @nodes
func.func @nodes(%x: tensor<4x8xf32>, %i: tensor<2xi64>) -> tensor<4x8xf32> {
  // CHECK: %[[NONE:.*]] = onnx.none
  %none = onnx.none
  // CHECK: onnx.node "Relu"(%{{.*}}) {} opset 18 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = onnx.node "Relu"(%x) {} opset 18 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: onnx.node "FastGelu"(%{{.*}}) {} domain "com.microsoft" opset 1 node "act/\22quoted\22" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = onnx.node "FastGelu"(%0) {} domain "com.microsoft" opset 1 node "act/\22quoted\22" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: onnx.node "Clip"(%{{.*}}, %[[NONE]], %[[NONE]]) {} opset 13 node "clip" {zero.name = "here"} : (tensor<4x8xf32>, none, none) -> tensor<4x8xf32>
  %2 = onnx.node "Clip"(%1, %none, %none) {} opset 13 node "clip" {zero.name = "here"} : (tensor<4x8xf32>, none, none) -> tensor<4x8xf32>
  // CHECK: %[[PARTS:.*]]:2 = onnx.node "Split"(%{{.*}}) {axis = 1 : i64, num_outputs = 2 : i64} opset 18
  %3:2 = onnx.node "Split"(%2) {axis = 1 : i64, num_outputs = 2 : i64} opset 18 : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  // CHECK: onnx.node "Constant"() {value = dense<[1, 2]> : tensor<2xi64>} opset 13 : () -> tensor<2xi64>
  %4 = onnx.node "Constant"() {value = dense<[1, 2]> : tensor<2xi64>} opset 13 : () -> tensor<2xi64>
  // CHECK: onnx.node "All"(%[[PARTS]]#0) {f = 1.000000e+00 : f32, fs = array<f32: 1.000000e+00, -2.500000e+00>, i = -1 : i64, is = array<i64: 1, -2>, s = "text", ss = ["a", "b"], t = dense<1.000000e+00> : tensor<3xf32>} opset 1
  %5 = onnx.node "All"(%3#0) {f = 1.0 : f32, fs = array<f32: 1.0, -2.5>, i = -1 : i64, is = array<i64: 1, -2>, s = "text", ss = ["a", "b"], t = dense<1.0> : tensor<3xf32>} opset 1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: onnx.node "Sink"() {} opset 1 : () -> ()
  onnx.node "Sink"() {} opset 1 : () -> ()
  return %2 : tensor<4x8xf32>
}
