// A constant that is the same for all samples, such as a mask, is a constant of fewer samples.
// RUN: zero-opt %s --zero-split-batch="parts=4" | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32> {zero.binding = "x"})
// CHECK: %[[M:.*]] = arith.constant dense<{{\[\[}}true, false], [true, false]]> : tensor<2x2xi1>
// CHECK: onnx.node "Where"(%[[M]], %[[X]]
func.func @step(%x: tensor<8x2xf32> {zero.binding = "x", zero.split})
    -> (tensor<f32> {zero.binding = "loss"}) {
  %mask = arith.constant dense<[[true, false], [true, false], [true, false], [true, false],
                                [true, false], [true, false], [true, false], [true, false]]>
      : tensor<8x2xi1>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
  %y = onnx.node "Where"(%mask, %x, %zero) {} opset 23
      : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  %l = onnx.node "ReduceSum"(%y, %axes) {keepdims = 0 : i64} opset 23
      : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
  return %l : tensor<f32>
}
