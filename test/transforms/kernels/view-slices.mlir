// Whole rows of state are read in place, where they start at a multiple of 64 elements.
// RUN: zero-opt %s --zero-view-slices | FileCheck %s

// Each reader gets a view of its own.
// CHECK-LABEL: func.func @step
// CHECK: %[[W:.*]] = zero.read @w
// CHECK: %[[V:.*]] = zero.read @v
// CHECK: %[[B:.*]] = onnx.node "Slice"(%[[V]]
// CHECK: %[[C:.*]] = onnx.node "Slice"(%arg0
// CHECK: %[[M:.*]] = zero.member %[[W]] at 64 : (tensor<4x8x8xf32>) -> tensor<1x8x8xf32>
// CHECK: %[[R:.*]] = onnx.node "Reshape"(%[[M]]
// CHECK: %[[T:.*]] = onnx.node "Tanh"(%[[R]])
// A reader of the epilogue, or the return, has a view of the epilogue.
// CHECK: %[[E:.*]] = zero.member %[[W]] at 64 {zero.schedule = #zero.schedule<epilogue>}
// CHECK: %[[S:.*]] = onnx.node "Reshape"(%[[E]]{{.*}}zero.schedule = #zero.schedule<epilogue>
// CHECK: %[[L:.*]] = onnx.node "Neg"(%[[S]])
// CHECK: %[[A:.*]] = zero.member %[[W]] at 64 {zero.schedule = #zero.schedule<epilogue>} : (tensor<4x8x8xf32>) -> tensor<1x8x8xf32>
// CHECK: return %[[A]], %[[B]], %[[C]], %[[T]], %[[L]]
zero.parameter @w : tensor<4x8x8xf32> {splat = 0.0}
zero.parameter @v : tensor<4x8xf32> {splat = 0.0}
func.func @step(%x: tensor<4x64xf32>)
    -> (tensor<1x8x8xf32>, tensor<1x8xf32>, tensor<1x64xf32>, tensor<8x8xf32>,
        tensor<8x8xf32>) {
  %shape = arith.constant dense<[8, 8]> : tensor<2xi64>
  %zero = arith.constant dense<0> : tensor<1xi64>
  %one = arith.constant dense<1> : tensor<1xi64>
  %two = arith.constant dense<2> : tensor<1xi64>
  %w = zero.read @w : tensor<4x8x8xf32>
  %v = zero.read @v : tensor<4x8xf32>
  %a = onnx.node "Slice"(%w, %one, %two, %zero, %one) {} opset 23
      : (tensor<4x8x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x8xf32>
  %b = onnx.node "Slice"(%v, %one, %two, %zero, %one) {} opset 23
      : (tensor<4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8xf32>
  %c = onnx.node "Slice"(%x, %one, %two, %zero, %one) {} opset 23
      : (tensor<4x64xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x64xf32>
  %r = onnx.node "Reshape"(%a, %shape) {allowzero = 1 : i64} opset 23
      : (tensor<1x8x8xf32>, tensor<2xi64>) -> tensor<8x8xf32>
  %t = onnx.node "Tanh"(%r) {} opset 23 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = onnx.node "Neg"(%r) {} opset 23 {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %b, %c, %t, %l : tensor<1x8x8xf32>, tensor<1x8xf32>, tensor<1x64xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
