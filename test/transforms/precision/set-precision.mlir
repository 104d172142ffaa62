// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=bf16 --zero-verify-precision | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: zero-opt %s --split-input-file --zero-set-precision="precision=fp16 loss-scale=1024" --zero-verify-precision | FileCheck %s --check-prefixes=CHECK,FP16
// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=fp32 | FileCheck %s --check-prefix=FP32
// RUN: zero-opt %s --split-input-file --zero-set-precision=precision=bf16 --remark-format=emitRemark --remarks-filter=precision -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: narrowed | {{.*}}bf16: 3 parameters and 2 values of the step are stored in 16 bits; 3 losses, sums and statistics of these stay f32

// FP32-NOT: {{zero.precision|xbf16}}

// Parameters, frozen ones too, are 16-bit; their files stay as they are. Constants,
// which may be masks, and buffers stay f32.
// BF16: module attributes {zero.precision = bf16}
// FP16: module attributes {zero.precision = f16}
// FP16-NEXT: zero.state optimizer @loss_scale : tensor<f32> {splat = 1.024000e+03 : f64}
// BF16-NOT: loss_scale
// CHECK: zero.parameter @w : tensor<16x8x[[$T:b?f16]]> {data = #zero.data<"m.onnx", 0, 512, f32>}
// CHECK: zero.parameter @scale : tensor<8x[[$T]]> {data = #zero.data<"m.onnx", 512, 16, bf16>}
// CHECK: zero.parameter @b : tensor<8x[[$T]]> {frozen, splat = 5.000000e-01 : f64}
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
  // CHECK: zero.read @w : tensor<16x8x[[$T]]>
  // CHECK: zero.read @mask : tensor<4x8xf32>
  %w = zero.read @w : tensor<16x8xf32>
  %scale = zero.read @scale : tensor<8xf32>
  %b = zero.read @b : tensor<8xf32>
  %mask = zero.read @mask : tensor<4x8xf32>
  %running = zero.read @running : tensor<8xf32>
  // A view of an input is as the input.
  // CHECK: onnx.node "Identity"({{.*}} -> tensor<4x16xf32>
  %v = onnx.node "Identity"(%x) {} opset 13 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  // What is computed from it is not.
  // CHECK: onnx.node "Gemm"({{.*}} : (tensor<4x16xf32>, tensor<16x8x[[$T]]>, tensor<8x[[$T]]>) -> tensor<4x8x[[$T]]>
  %y = onnx.node "Gemm"(%v, %w, %b) {} opset 13 : (tensor<4x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // From integers and constants alone: a mask.
  // CHECK: onnx.node "Cast"({{.*}} -> tensor<4x8xf32>
  // CHECK: onnx.node "Mul"({{.*}} -> tensor<4x8xf32>
  %float = onnx.node "Cast"(%ids) {to = 1 : i64} opset 13 : (tensor<4x8xi64>) -> tensor<4x8xf32>
  %hidden = onnx.node "Mul"(%float, %mask) {} opset 14 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // Statistics of a normalization stay f32, and so does what is computed from them.
  // CHECK: onnx.node "LayerNormalization"({{.*}} -> (tensor<4x8x[[$T]]>, tensor<4x1xf32>, tensor<4x1xf32>)
  // CHECK: onnx.node "Mul"({{.*}} -> tensor<4x1xf32>
  %n, %mean, %inverse = onnx.node "LayerNormalization"(%y, %scale) {} opset 17 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  %ratio = onnx.node "Mul"(%mean, %inverse) {} opset 14 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK: onnx.node "Mul"({{.*}} -> tensor<8xf32>
  %next = onnx.node "Mul"(%running, %running) {} opset 14 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  zero.write @running, %next : tensor<8xf32>
  // Sums stay f32 to the end.
  // CHECK: onnx.node "ReduceSum"({{.*}} : (tensor<4x8x[[$T]]>) -> tensor<f32>
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

// A loss that is no sum is f32 all the same, before a view too.
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
