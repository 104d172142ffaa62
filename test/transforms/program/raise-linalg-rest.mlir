// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// An op without equivalent stays, with nodes before and after it. Kernels are no programs.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @partly
// CHECK: %[[A:.*]] = onnx.node "Exp"(%arg0)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4xf32>)
// CHECK: math.ctlz
// CHECK: %[[C:.*]] = onnx.node "Neg"(%[[B]])
// CHECK: return %[[C]]
func.func @partly(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    %bits = arith.bitcast %0 : f32 to i32
    %zeros = math.ctlz %bits : i32
    %1 = arith.sitofp %zeros : i32 to f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %c = linalg.negf ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// A running product is no reduction.
// CHECK-LABEL: func.func @recurrence
// CHECK: linalg.generic
// CHECK: arith.divf
func.func @recurrence(%x: tensor<4xf32>) -> tensor<f32> {
  %f = arith.constant dense<1.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    %1 = arith.divf %0, %in : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Products of integers would have to be stored to be summed, windows of an image to be multiplied.
// CHECK-LABEL: func.func @integer_products
// CHECK: linalg.matmul
// CHECK: linalg.conv_2d_nchw_fchw
func.func @integer_products(%a: tensor<64x64xi32>, %x: tensor<1x3x8x8xi32>, %w: tensor<4x3x3x3xi32>) -> (tensor<64x64xi32>, tensor<1x4x6x6xi32>) {
  %f = arith.constant dense<0> : tensor<64x64xi32>
  %0 = linalg.matmul ins(%a, %a : tensor<64x64xi32>, tensor<64x64xi32>) outs(%f : tensor<64x64xi32>) -> tensor<64x64xi32>
  %g = arith.constant dense<0> : tensor<1x4x6x6xi32>
  %1 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x8x8xi32>, tensor<4x3x3x3xi32>) outs(%g : tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xi32>
  return %0, %1 : tensor<64x64xi32>, tensor<1x4x6x6xi32>
}

// CHECK-LABEL: func.func private @k0
// CHECK: linalg.exp
func.func private @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
