// Products of the forward pass say which side of a matrix is its outputs; those of the backward pass
// read it the other way. With muon-orientation=product, the step is scaled by outputs and inputs.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=muon-orientation=product matrix-params=*" -o %t --remark-format=emitRemark --remarks-filter=updates 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=STEP --input-file=%t
// RUN: zero-opt %s --zero-build-step="optimizer=muon matrix-params=*" -o %t --remark-format=emitRemark --remarks-filter=updates 2>&1 | FileCheck %s --check-prefix=STORED

zero.parameter @right : tensor<2x8xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.parameter @turned : tensor<2x8xf32> {data = #zero.data<"m.onnx", 64, 64>}
zero.parameter @left : tensor<8x2xf32> {data = #zero.data<"m.onnx", 128, 64>}
zero.parameter @both : tensor<8x8xf32> {data = #zero.data<"m.onnx", 192, 256>}

func.func @step(%x: tensor<4x2xf32>, %g: tensor<4x8xf32>) -> (tensor<f32> {zero.binding = "loss"}) {
  // CHECK: right: 2x8xf32, inputs x outputs, scaled as 8x2
  // STORED: right: 2x8xf32, inputs x outputs, scaled as 2x8
  %right = zero.read @right : tensor<2x8xf32>
  %a = onnx.node "MatMul"(%x, %right) {} opset 13 node "a" : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>

  // The backward pass.
  %rt = onnx.node "Transpose"(%right) {} opset 13 node "b" : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %dx = onnx.node "MatMul"(%g, %rt) {} opset 13 node "b" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>

  // CHECK: turned: 2x8xf32, outputs x inputs, scaled as 2x8
  %turned = zero.read @turned : tensor<2x8xf32>
  %tt = onnx.node "Transpose"(%turned) {} opset 13 node "c" : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %c = onnx.node "MatMul"(%a, %tt) {} opset 13 node "c" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>

  // A matrix on the left of its product.
  // CHECK: left: 8x2xf32, outputs x inputs, scaled as 8x2
  %left = zero.read @left : tensor<8x2xf32>
  %ct = onnx.node "Transpose"(%c) {} opset 13 node "d" : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %d = onnx.node "MatMul"(%left, %ct) {} opset 13 node "d" : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>

  // Two products that differ.
  // CHECK: both: 8x8xf32, scaled as 8x8
  %both = zero.read @both : tensor<8x8xf32>
  %e = onnx.node "MatMul"(%both, %d) {} opset 13 node "e" : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %bt = onnx.node "Transpose"(%both) {} opset 13 node "f" : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = onnx.node "MatMul"(%bt, %e) {} opset 13 node "f" : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %loss = onnx.node "ReduceSum"(%f) {keepdims = 0 : i64} opset 13 node "loss" : (tensor<8x4xf32>) -> tensor<f32>

  // STEP: zero.launch @matrix0_{{[0-9]+}}_polynomial_8x2
  // STEP: zero.launch @matrix0_{{[0-9]+}}_polynomial_2x8
  // STEP: zero.launch @matrix0_{{[0-9]+}}_polynomial_8x2
  // STEP: zero.launch @matrix0_{{[0-9]+}}_polynomial_8x8
  %gr = zero.gradient @right, %right : tensor<2x8xf32> -> tensor<2x8xf32>
  %gt = zero.gradient @turned, %turned : tensor<2x8xf32> -> tensor<2x8xf32>
  %gl = zero.gradient @left, %left : tensor<8x2xf32> -> tensor<8x2xf32>
  %gb = zero.gradient @both, %both : tensor<8x8xf32> -> tensor<8x8xf32>
  return %loss : tensor<f32>
}
