// RUN: zero-opt %s --zero-verify-export 2>&1 | FileCheck %s

// Nothing here looks lost: a weight by its name, a mask, a table that is only multiplied, a scalar,
// and an unused constant.
// CHECK-NOT: error
// CHECK: warning: Div node 'norm' divides by a norm with no epsilon, and by zero where that is 0: an exporter that folds x + 1e-8 to x leaves this
// CHECK-NOT: warning
// CHECK: zero.state constant @fc.weight
zero.state constant @fc.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @val_1 : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @val_2 : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @val_3 : tensor<1xf32> {data = #zero.data<"m.onnx", 0, 4>}
zero.state constant @val_4 : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// A constant of the module's code according to the exporter remains one, for any use.
zero.state constant @kernel : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>, zero.exported_as = "constant"}

func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @fc.weight : tensor<4x4xf32>
  %mask = zero.read @val_1 : tensor<4x4xf32>
  %table = zero.read @val_2 : tensor<4x4xf32>
  %one = zero.read @val_3 : tensor<1xf32>
  %dead = zero.read @val_4 : tensor<4x4xf32>
  %kernel = zero.read @kernel : tensor<4x4xf32>
  %0 = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.node "Mul"(%0, %table) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.node "Add"(%1, %one) {} opset 18 : (tensor<4x4xf32>, tensor<1xf32>) -> tensor<4x4xf32>
  %3 = onnx.node "Add"(%2, %mask) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = onnx.node "Softmax"(%3) {axis = -1 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = onnx.node "MatMul"(%4, %kernel) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = onnx.node "MatMul"(%5, %dead) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %norm = onnx.node "ReduceL2"(%5) {keepdims = 1 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<1x1xf32>
  %7 = onnx.node "Div"(%5, %norm) {} opset 18 node "norm" : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32>
  // With an epsilon there is no report.
  %8 = onnx.node "Add"(%norm, %one) {} opset 18 : (tensor<1x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  %9 = onnx.node "Div"(%7, %8) {} opset 18 : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32>
  %loss = onnx.node "ReduceMean"(%9) {keepdims = 0 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
