// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-tile-parameters=bytes=20

// expected-error @below {{parameter 'w' of 96 B is above --tile-params-over=20 and cannot be tiled: one of its 4 columns takes 24 bytes}}
zero.parameter @w : tensor<6x4xf32>
func.func @step(%x: tensor<2x6xf32>) -> tensor<2x4xf32> {
  %w = zero.read @w : tensor<6x4xf32>
  %y = onnx.node "MatMul"(%x, %w) {} opset 18 node "fc" : (tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// expected-error @below {{parameter 'w' of 64 B is above --tile-params-over=20 and cannot be tiled: it is read by Transpose node 't'; expected products, convolutions and gathers of rows}}
zero.parameter @w : tensor<4x4xf32>
func.func @step() -> tensor<4x4xf32> {
  %w = zero.read @w : tensor<4x4xf32>
  %y = onnx.node "Transpose"(%w) {} opset 18 node "t" : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// expected-error @below {{cannot be tiled: it is read by 'arith.addf'}}
zero.parameter @w : tensor<4x4xf32>
func.func @step(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = zero.read @w : tensor<4x4xf32>
  %y = arith.addf %x, %w : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// expected-error @below {{MatMul node 'a' can split dimension 1 of it, Gather node 'g' dimension 0}}
zero.parameter @w : tensor<4x4xf32>
func.func @step(%x: tensor<4x4xf32>, %i: tensor<4xi64>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %w = zero.read @w : tensor<4x4xf32>
  %g = onnx.node "Gather"(%w, %i) {axis = 0 : i64} opset 18 node "g" : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x4xf32>
  %y = onnx.node "MatMul"(%x, %w) {} opset 18 node "a" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y, %g : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

zero.parameter @w : tensor<4x4xf32>
// expected-error @below {{the graph already contains a training step, so --tile-params-over cannot tile its parameters}}
func.func @step(%g: tensor<4x4xf32>) {
  %s = zero.gradient @w, %g : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}
