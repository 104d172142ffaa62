// RUN: zero-opt %s --zero-hoist-sums | FileCheck %s

// Sums along the axis tensor run beside the product of the weights. The order of sums of one op
// stays, and reductions over data and gathers do not move.
// CHECK-LABEL: func.func @step
// CHECK: %[[X:.*]]:2 = zero.launch @both
// CHECK-NEXT: %[[E:.*]] = tensor.expand_shape %[[X]]#0
// CHECK-NEXT: zero.reduce_scatter %[[E]] over <[@tensor]>
// CHECK-NEXT: zero.all_reduce %[[X]]#1 over <[@tensor]>
// CHECK-NEXT: %[[W:.*]]:2 = zero.launch @both
// CHECK-NEXT: zero.launch @both
// CHECK-NEXT: zero.all_reduce %[[W]]#1 over <[@data]>
// CHECK-NEXT: zero.all_gather %[[W]]#1 over <[@tensor]>
module attributes {zero.mesh = #zero.mesh<data = 2, tensor = 2>} {
  func.func private @both(tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) attributes {zero.kernel}
  func.func @step(%dy: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
    %x:2 = zero.launch @both(%dy) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
    %w:2 = zero.launch @both(%dy) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
    %u:2 = zero.launch @both(%w#0) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
    %e = tensor.expand_shape %x#0 [[0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
    %s = zero.reduce_scatter %e over <[@tensor]> : (tensor<2x4x4xf32>) -> tensor<4x4xf32>
    %b = zero.all_reduce %x#1 over <[@tensor]> : tensor<4xf32>
    %d = zero.all_reduce %w#1 over <[@data]> : tensor<4xf32>
    %g = zero.all_gather %w#1 over <[@tensor]> : (tensor<4xf32>) -> tensor<8xf32>
    return %s, %b, %d, %g : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
  }
}
