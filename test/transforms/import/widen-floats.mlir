// RUN: zero-opt %s --split-input-file --zero-widen-floats | FileCheck %s
// RUN: zero-opt %s --split-input-file --zero-widen-floats --remark-format=emitRemark --remarks-filter=precision -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: widened | {{.*}}the model's 16-bit floats are trained as f32: 2 of its tensors are converted when read, 3 casts dropped
// REMARK-NOT: widened

// The data in the file remains 16-bit. The step reads f32.
// CHECK: zero.state constant @w : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 32, bf16>}
// CHECK: zero.state constant @h : tensor<4xf32> {data = #zero.data<"m.onnx", 32, 8, f16>}
// CHECK: zero.state constant @f : tensor<4xf32> {data = #zero.data<"m.onnx", 40, 16>}
// CHECK: zero.state constant @ids : tensor<4xi16> {data = #zero.data<"m.onnx", 56, 8>}
zero.state constant @w : tensor<4x4xbf16> {data = #zero.data<"m.onnx", 0, 32>}
zero.state constant @h : tensor<4xf16> {data = #zero.data<"m.onnx", 32, 8>}
zero.state constant @f : tensor<4xf32> {data = #zero.data<"m.onnx", 40, 16>}
zero.state constant @ids : tensor<4xi16> {data = #zero.data<"m.onnx", 56, 8>}

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"})
func.func @step(%x: tensor<4x4xf16> {zero.binding = "x"}) -> (tensor<bf16> {zero.binding = "loss"}) {
  // CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-DAG: %[[TWO:.*]] = arith.constant dense<[1.000000e+00, -3.38953139E+38]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = zero.read @w : tensor<4x4xf32>
  // CHECK-DAG: %[[H:.*]] = zero.read @h : tensor<4xf32>
  // CHECK-DAG: %[[F:.*]] = zero.read @f : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<bf16>
  %two = arith.constant dense<[1.0, -3.389531389e+38]> : tensor<2xbf16>
  %w = zero.read @w : tensor<4x4xbf16>
  %h = zero.read @h : tensor<4xf16>
  %f = zero.read @f : tensor<4xf32>
  // A cast between 16-bit types, one to fp32, and one to 16 bits whose rounding is removed.
  %xb = onnx.node "Cast"(%x) {to = 16 : i64} opset 18 : (tensor<4x4xf16>) -> tensor<4x4xbf16>
  %hf = onnx.node "Cast"(%h) {to = 1 : i64} opset 18 : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK: %[[MM:.*]] = onnx.node "MatMul"(%[[X]], %[[W]]) {{.*}} -> tensor<4x4xf32>
  %mm = onnx.node "MatMul"(%xb, %w) {} opset 18 : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  // CHECK: %[[A:.*]] = onnx.node "Add"(%[[F]], %[[H]]) {{.*}} -> tensor<4xf32>
  %a = onnx.node "Add"(%f, %hf) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %ab = onnx.node "Cast"(%a) {to = 16 : i64} opset 18 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[Y:.*]] = onnx.node "Add"(%[[MM]], %[[A]])
  %y = onnx.node "Add"(%mm, %ab) {} opset 18 : (tensor<4x4xbf16>, tensor<4xbf16>) -> tensor<4x4xbf16>
  // A cast that still changes the type remains, with its result type.
  // CHECK: onnx.node "Cast"(%{{.*}}) {to = 1 : i64} {{.*}} (tensor<i64>) -> tensor<f32>
  %n = arith.constant dense<3> : tensor<i64>
  %nb = onnx.node "Cast"(%n) {to = 16 : i64} opset 18 : (tensor<i64>) -> tensor<bf16>
  // CHECK: onnx.node "ConstantOfShape"(%{{.*}}) {value = dense<2.500000e-01> : tensor<1xf32>} {{.*}} -> tensor<2xf32>
  %shape = arith.constant dense<2> : tensor<1xi64>
  %c = onnx.node "ConstantOfShape"(%shape) {value = dense<2.5e-01> : tensor<1xf16>} opset 18 : (tensor<1xi64>) -> tensor<2xf16>
  // CHECK: onnx.node "Mul"(%{{.*}}, %[[HALF]])
  %s = onnx.node "Mul"(%nb, %half) {} opset 18 : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
  %z = onnx.node "Mul"(%y, %s) {} opset 18 : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4x4xbf16>
  // CHECK: %[[LOSS:.*]] = onnx.node "ReduceMean"(%{{.*}}) {{.*}} -> tensor<f32>
  %loss = onnx.node "ReduceMean"(%z) {keepdims = 0 : i64} opset 18 : (tensor<4x4xbf16>) -> tensor<bf16>
  // CHECK: return %[[LOSS]] : tensor<f32>
  return %loss : tensor<bf16>
}

// -----

// Without 16-bit types nothing changes, and there is no remark.
// CHECK: zero.state constant @w : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @w : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
func.func @step() -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<4xf32>
  // CHECK: onnx.node "Cast"(%{{.*}}) {to = 1 : i64}
  %c = onnx.node "Cast"(%w) {to = 1 : i64} opset 18 : (tensor<4xf32>) -> tensor<4xf32>
  %loss = onnx.node "ReduceMean"(%c) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A program that itself computes in 16 bits does not change.
// CHECK: func.func @step(%{{.*}}: tensor<4xbf16>
func.func @step(%x: tensor<4xbf16> {zero.binding = "x"}) -> (tensor<4xbf16> {zero.binding = "y"}) {
  // CHECK: arith.addf %{{.*}} : tensor<4xbf16>
  %y = arith.addf %x, %x : tensor<4xbf16>
  return %y : tensor<4xbf16>
}
