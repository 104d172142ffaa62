// RUN: zero-opt %s --zero-recognise-log-sigmoid | FileCheck %s

// CHECK-LABEL: func.func @log_sigmoid
// CHECK: %[[N:.*]] = onnx.node "Neg"(%arg0)
// CHECK: %[[P:.*]] = onnx.node "Softplus"(%[[N]])
// CHECK: %[[Y:.*]] = onnx.node "Neg"(%[[P]]) {{.*}} node "y"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @log_sigmoid(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %s = onnx.node "Sigmoid"(%x) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Log"(%s) {} opset 18 node "y" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// Binary cross entropy as the legacy exporter writes it: both logarithms, and a reader of the
// sigmoid itself, which remains.
// CHECK-LABEL: func.func @complement
// CHECK: %[[S:.*]] = onnx.node "Sigmoid"(%arg0)
// CHECK: %[[P:.*]] = onnx.node "Softplus"(%arg0)
// CHECK: %[[Y:.*]] = onnx.node "Neg"(%[[P]]) {{.*}} node "y"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]], %[[S]]
func.func @complement(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {
  %k = arith.constant dense<1.0> : tensor<f32>
  %s = onnx.node "Sigmoid"(%x) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %c = onnx.node "Sub"(%k, %s) {} opset 18 node "c" : (tensor<f32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Log"(%c) {} opset 18 node "y" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y, %s : tensor<3x8xf32>, tensor<3x8xf32>
}

// An epsilon in the logarithm, another difference, and one that broadcasts remain.
// CHECK-LABEL: func.func @others
// CHECK-NOT: "Softplus"
// CHECK: return
func.func @others(%x: tensor<3x8xf32>, %z: tensor<2x3x8xf32>)
    -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<2x3x8xf32>) {
  %e = arith.constant dense<1.0e-6> : tensor<f32>
  %k = arith.constant dense<2.0> : tensor<f32>
  %ones = arith.constant dense<1.0> : tensor<2x3x8xf32>
  %s = onnx.node "Sigmoid"(%x) {} opset 18 node "s" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %a = onnx.node "Add"(%s, %e) {} opset 18 node "a" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %y0 = onnx.node "Log"(%a) {} opset 18 node "y0" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %b = onnx.node "Sub"(%k, %s) {} opset 18 node "b" : (tensor<f32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %y1 = onnx.node "Log"(%b) {} opset 18 node "y1" : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %c = onnx.node "Sub"(%ones, %s) {} opset 18 node "c" : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y2 = onnx.node "Log"(%c) {} opset 18 node "y2" : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %y0, %y1, %y2 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<2x3x8xf32>
}
