// With precision=bf16 parameters and values of the step become bf16; losses, sums and statistics
// stay f32. There is no loss scale. A remark counts what was narrowed.
// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=bf16 --zero-verify-precision | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=bf16 --remark-format=emitRemark --remarks-filter=precision -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: narrowed | {{.*}}bf16: 3 parameters and 2 values of the step are stored in 16 bits; 3 losses, sums and statistics of these stay f32

// Parameters, frozen ones too, become 16-bit; their data in the model file stays as it is.
// Constants, which may be masks, and buffers stay f32.
// CHECK: module attributes {zero.precision = bf16}
// CHECK-NOT: loss_scale
// CHECK: zero.parameter @w : tensor<16x8xbf16> {data = #zero.data<"m.onnx", 0, 512, f32>}
// CHECK: zero.parameter @scale : tensor<8xbf16> {data = #zero.data<"m.onnx", 512, 16, bf16>}
// CHECK: zero.parameter @b : tensor<8xbf16> {frozen, splat = 5.000000e-01 : f64}
// CHECK: zero.state constant @mask : tensor<4x8xf32>
// CHECK: zero.state buffer @running : tensor<8xf32>
zero.parameter @w : tensor<16x8xf32> {data = #zero.data<"m.onnx", 0, 512>}
zero.parameter @scale : tensor<8xf32> {data = #zero.data<"m.onnx", 512, 16, bf16>}
zero.parameter @b : tensor<8xf32> {splat = 0.5, frozen}
zero.state constant @mask : tensor<4x8xf32> {data = #zero.data<"m.onnx", 528, 128>}
zero.state buffer @running : tensor<8xf32> {splat = 0.0}

// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<4x16xf32> {zero.binding = "x"}
// CHECK-SAME: -> (tensor<f32> {zero.binding = "loss"})
func.func @step(%x: tensor<4x16xf32> {zero.binding = "x"}, %ids: tensor<4x8xi64> {zero.binding = "ids"}) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: zero.read @w : tensor<16x8xbf16>
  // CHECK: zero.read @mask : tensor<4x8xf32>
  %w = zero.read @w : tensor<16x8xf32>
  %scale = zero.read @scale : tensor<8xf32>
  %b = zero.read @b : tensor<8xf32>
  %mask = zero.read @mask : tensor<4x8xf32>
  %running = zero.read @running : tensor<8xf32>
  // A view of an input has the input's type.
  // CHECK: onnx.node "Identity"({{.*}} -> tensor<4x16xf32>
  %v = onnx.node "Identity"(%x) {} opset 13 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  // A value that is computed from it and a parameter is 16-bit.
  // CHECK: onnx.node "Gemm"({{.*}} : (tensor<4x16xf32>, tensor<16x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  %y = onnx.node "Gemm"(%v, %w, %b) {} opset 13 : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // A value that is computed only from integers and constants may be a mask: it stays f32.
  // CHECK: onnx.node "Cast"({{.*}} -> tensor<4x8xf32>
  // CHECK: onnx.node "Mul"({{.*}} -> tensor<4x8xf32>
  %float = onnx.node "Cast"(%ids) {to = 1 : i64} opset 13 : (tensor<4x8xi64>) -> tensor<4x8xf32>
  %hidden = onnx.node "Mul"(%float, %mask) {} opset 14 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // Statistics of a normalization stay f32, and so does what is computed from them.
  // CHECK: onnx.node "LayerNormalization"({{.*}} -> (tensor<4x8xbf16>, tensor<4x1xf32>, tensor<4x1xf32>)
  // CHECK: onnx.node "Mul"({{.*}} -> tensor<4x1xf32>
  %n, %mean, %inverse = onnx.node "LayerNormalization"(%y, %scale) {} opset 17 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  %ratio = onnx.node "Mul"(%mean, %inverse) {} opset 14 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK: onnx.node "Mul"({{.*}} -> tensor<8xf32>
  %next = onnx.node "Mul"(%running, %running) {} opset 14 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  zero.write @running, %next : tensor<8xf32>
  // Sums stay f32 up to the loss.
  // CHECK: onnx.node "ReduceSum"({{.*}} : (tensor<4x8xbf16>) -> tensor<f32>
  // CHECK: onnx.node "ReduceMean"({{.*}} : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: zero.rank_mean %{{.*}} : tensor<f32>
  // CHECK: onnx.node "Div"({{.*}} -> tensor<f32>
  %sum = onnx.node "ReduceSum"(%n) {keepdims = 0 : i64} opset 13 : (tensor<4x8xf32>) -> tensor<f32>
  %count = onnx.node "ReduceMean"(%hidden) {keepdims = 0 : i64} opset 13 : (tensor<4x8xf32>) -> tensor<f32>
  %all = zero.rank_mean %count : tensor<f32>
  %quotient = onnx.node "Div"(%sum, %all) {} opset 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %most = onnx.node "ReduceMax"(%ratio) {keepdims = 0 : i64} opset 13 : (tensor<4x1xf32>) -> tensor<f32>
  %loss = onnx.node "Add"(%quotient, %most) {} opset 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A loss that is not a sum is f32, too, also before a view.
// CHECK-LABEL: func.func @step
// CHECK: onnx.node "MatMul"({{.*}} -> tensor<1xf32>
// CHECK: onnx.node "Squeeze"({{.*}} -> tensor<f32>
zero.parameter @w : tensor<8xf32> {splat = 0.5}
func.func @step(%x: tensor<1x8xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<8xf32>
  %y = onnx.node "MatMul"(%x, %w) {} opset 13 : (tensor<1x8xf32>, tensor<8xf32>) -> tensor<1xf32>
  %loss = onnx.node "Squeeze"(%y) {} opset 13 : (tensor<1xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
