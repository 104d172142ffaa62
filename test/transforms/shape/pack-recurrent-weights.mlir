// RUN: zero-opt %s --zero-pack-recurrent-weights | FileCheck %s

// 4 gates of 10 units become 4 blocks of 16 columns, the last 6 of which are zero. The gradient of
// an RNN of 32 units multiplies by the transposed weights: 2 blocks.
func.func @step(%gates: tensor<9x8x40xf32> {zero.binding = "gates"}, %r: tensor<40x10xf32> {zero.binding = "r"},
                %sums: tensor<9x8x32xf32> {zero.binding = "sums"}, %t: tensor<32x32xbf16> {zero.binding = "t"},
                %dy: tensor<9x8x32xf32> {zero.binding = "dy"})
    -> (tensor<9x8x10xf32> {zero.binding = "states"}, tensor<9x8x32xf32> {zero.binding = "slopes"}) {
  %none = onnx.none
  // CHECK: %[[GATES:.*]] = onnx.node "Reshape"(%arg1, {{.*}}) -> tensor<4x10x10xf32>
  // CHECK: %[[PADDED:.*]] = onnx.node "Pad"(%[[GATES]], {{.*}}) -> tensor<4x16x10xf32>
  // CHECK: %[[PACKED:.*]] = onnx.node "Transpose"(%[[PADDED]]) {{.*}} -> tensor<4x10x16xf32>
  // CHECK: onnx.node "LSTM"(%arg0, %[[PACKED]],
  %s:4 = onnx.node "LSTM"(%gates, %r, %none, %none, %none, %none, %none) {activation0 = "Sigmoid", activation1 = "Tanh", activation2 = "Tanh"} domain "zero" opset 1 : (tensor<9x8x40xf32>, tensor<40x10xf32>, none, none, none, none, none) -> (tensor<9x8x10xf32>, tensor<8x10xf32>, tensor<10x8x10xf32>, tensor<8x10xf32>)
  // CHECK: %[[WIDE:.*]] = onnx.node "Cast"(%arg3) {{.*}} -> tensor<32x32xf32>
  // CHECK: %[[BLOCKS:.*]] = onnx.node "Reshape"(%[[WIDE]], {{.*}}) -> tensor<2x16x32xf32>
  // CHECK: %[[PACKED:.*]] = onnx.node "Transpose"(%[[BLOCKS]]) {{.*}} -> tensor<2x32x16xf32>
  // CHECK: onnx.node "RNNGrad"(%arg4, {{.*}}, %arg2, %[[PACKED]],
  %g:2 = onnx.node "RNNGrad"(%dy, %none, %none, %sums, %t, %none, %none, %none, %none, %none, %none, %none) {activation0 = "Tanh"} domain "zero" opset 1 : (tensor<9x8x32xf32>, none, none, tensor<9x8x32xf32>, tensor<32x32xbf16>, none, none, none, none, none, none, none) -> (tensor<9x8x32xf32>, tensor<8x32xf32>)
  return %s#0, %g#0 : tensor<9x8x10xf32>, tensor<9x8x32xf32>
}
