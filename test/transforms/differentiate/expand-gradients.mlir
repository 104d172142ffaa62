// RUN: zero-opt %s --split-input-file --zero-expand-gradients | FileCheck %s

// The gradient of y = (a + b) a: of a it is (a + b) + a, of b it is a.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[A:[^ ]+]]: tensor<f32>{{.*}}, %[[B:[^ ]+]]: tensor<f32>
// CHECK: %[[C:.*]] = onnx.node "Add"(%[[A]], %[[B]])
// CHECK: %[[Y:.*]] = onnx.node "Mul"(%[[C]], %[[A]])
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0
// CHECK: %[[DC:.*]] = onnx.node "Mul"(%[[ONE]], %[[A]])
// CHECK: %[[DA:.*]] = onnx.node "Mul"(%[[ONE]], %[[C]])
// CHECK: %[[SUM:.*]] = onnx.node "Add"(%[[DA]], %[[DC]])
// CHECK-NOT: "Gradient"
// CHECK: return %[[SUM]], %[[DC]]
func.func @step(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %c = onnx.node "Add"(%a, %b) {} opset 13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.node "Mul"(%c, %a) {} opset 13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g:2 = onnx.node "Gradient"(%a, %b, %a, %b, %y) {xs = ["a", "b"], y = "y"}
    domain "ai.onnx.preview.training" opset 1
    : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}

// -----

// With respect to c, in the middle, and b constant. What computes c is not differentiated, and y
// does not depend on b.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]] = onnx.node "Mul"
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0
// CHECK: %[[DC:.*]] = onnx.node "Mul"(%[[ONE]], %{{.*}})
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: return %[[DC]], %[[ZERO]]
func.func @step(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = onnx.node "Exp"(%a) {} opset 13 : (tensor<4xf32>) -> tensor<4xf32>
  %y = onnx.node "Mul"(%c, %a) {} opset 13 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g:2 = onnx.node "Gradient"(%c, %b, %a, %c, %b, %a, %y) {xs = ["c", "b"], zs = ["a"], y = "y"}
    domain "ai.onnx.preview.training" opset 1
    : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
       tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %g#0, %g#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// At another value than that of a: the nodes between are recomputed from it.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[A:[^ ]+]]: tensor<f32>{{.*}}, %[[AT:[^ ]+]]: tensor<f32>
// CHECK: onnx.node "Exp"(%[[A]])
// CHECK: %[[Y:.*]] = onnx.node "Exp"(%[[AT]])
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0
// CHECK: %[[DA:.*]] = onnx.node "Mul"(%[[ONE]], %[[Y]])
// CHECK: return %[[DA]]
func.func @step(%a: tensor<f32>, %at: tensor<f32>) -> tensor<f32> {
  %y = onnx.node "Exp"(%a) {} opset 13 : (tensor<f32>) -> tensor<f32>
  %g = onnx.node "Gradient"(%at, %a, %y) {xs = ["a"], y = "y"}
    domain "ai.onnx.preview.training" opset 1
    : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// The gradient of a gradient: y = a^3 as products, 6 a.
// CHECK-LABEL: func.func @step
// CHECK-NOT: "Gradient"
// CHECK: return
func.func @step(%a: tensor<f32>) -> tensor<f32> {
  %s = onnx.node "Mul"(%a, %a) {} opset 13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.node "Mul"(%s, %a) {} opset 13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = onnx.node "Gradient"(%a, %a, %y) {xs = ["a"], y = "y"} domain "ai.onnx.preview.training"
    opset 1 : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %h = onnx.node "Gradient"(%a, %a, %g) {xs = ["a"], y = "g"} domain "ai.onnx.preview.training"
    opset 1 : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %h : tensor<f32>
}
