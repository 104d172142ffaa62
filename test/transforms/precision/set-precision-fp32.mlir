// With precision=fp32 the pass changes nothing.
// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=fp32 | FileCheck %s

// CHECK-NOT: {{zero.precision|xbf16}}

zero.parameter @w : tensor<16x8xf32> {data = #zero.data<"m.onnx", 0, 512>}
zero.parameter @scale : tensor<8xf32> {data = #zero.data<"m.onnx", 512, 16, bf16>}
zero.parameter @b : tensor<8xf32> {splat = 0.5, frozen}
zero.state constant @mask : tensor<4x8xf32> {data = #zero.data<"m.onnx", 528, 128>}
zero.state buffer @running : tensor<8xf32> {splat = 0.0}

func.func @step(%x: tensor<4x16xf32> {zero.binding = "x"}, %ids: tensor<4x8xi64> {zero.binding = "ids"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<16x8xf32>
  %scale = zero.read @scale : tensor<8xf32>
  %b = zero.read @b : tensor<8xf32>
  %mask = zero.read @mask : tensor<4x8xf32>
  %running = zero.read @running : tensor<8xf32>
  %v = onnx.node "Identity"(%x) {} opset 13 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = onnx.node "Gemm"(%v, %w, %b) {} opset 13 : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %float = onnx.node "Cast"(%ids) {to = 1 : i64} opset 13 : (tensor<4x8xi64>) -> tensor<4x8xf32>
  %hidden = onnx.node "Mul"(%float, %mask) {} opset 14 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n, %mean, %inverse = onnx.node "LayerNormalization"(%y, %scale) {} opset 17 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  %ratio = onnx.node "Mul"(%mean, %inverse) {} opset 14 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %next = onnx.node "Mul"(%running, %running) {} opset 14 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  zero.write @running, %next : tensor<8xf32>
  %sum = onnx.node "ReduceSum"(%n) {keepdims = 0 : i64} opset 13 : (tensor<4x8xf32>) -> tensor<f32>
  %count = onnx.node "ReduceMean"(%hidden) {keepdims = 0 : i64} opset 13 : (tensor<4x8xf32>) -> tensor<f32>
  %all = zero.rank_mean %count : tensor<f32>
  %quotient = onnx.node "Div"(%sum, %all) {} opset 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %most = onnx.node "ReduceMax"(%ratio) {keepdims = 0 : i64} opset 13 : (tensor<4x1xf32>) -> tensor<f32>
  %loss = onnx.node "Add"(%quotient, %most) {} opset 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

zero.parameter @w : tensor<8xf32> {splat = 0.5}
func.func @step(%x: tensor<1x8xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8xf32>
  %y = onnx.node "MatMul"(%x, %w) {} opset 13 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1xf32>
  %loss = onnx.node "Squeeze"(%y) {} opset 13 : (tensor<1xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
