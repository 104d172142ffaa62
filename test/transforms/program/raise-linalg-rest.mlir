// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// An op without equivalent stays, with nodes before and after it. Kernels are no programs.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @partly
// CHECK: %[[A:.*]] = onnx.node "Exp"(%arg0)
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4xf32>)
// CHECK: math.erfc
// CHECK: %[[C:.*]] = onnx.node "Neg"(%[[B]])
// CHECK: return %[[C]]
func.func @partly(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    %1 = math.erfc %0 : f32
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

// CHECK-LABEL: func.func private @k0
// CHECK: linalg.exp
func.func private @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
