// RUN: zero-opt %s --zero-tile-parameters=bytes=1000 | FileCheck %s

// The decision of a planner on the module is used.
// CHECK: zero.parameter @w.part0 : tensor<8x3xf32>
// CHECK: zero.parameter @w.part1 : tensor<8x3xf32>
// CHECK-NOT: @w.part2
module attributes {zero.tile_params_over = 100 : i64} {
  zero.parameter @w : tensor<8x6xf32>
  func.func @step(%x: tensor<2x8xf32>) -> tensor<2x6xf32> {
    %w = zero.read @w : tensor<8x6xf32>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 node "fc" : (tensor<2x8xf32>, tensor<8x6xf32>) -> tensor<2x6xf32>
    return %y : tensor<2x6xf32>
  }
}
