// RUN: zero-opt %s --zero-raise-linalg --split-input-file --verify-diagnostics

// expected-error @+1 {{expected ops of linalg, tensor, arith and math on tensors of static shape, got 4 kinds of others}}
func.func @mixed(%x: tensor<4xf32>, %y: tensor<?xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{scf.for, which nodes do not express: 1 op}}
  %b = scf.for %i = %c0 to %c4 step %one iter_args(%v = %a) -> (tensor<4xf32>) {
    scf.yield %v : tensor<4xf32>
  }
  // expected-note @+1 {{linalg.exp, of a dynamic shape: 1 op}}
  %d = linalg.exp ins(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %z = arith.constant 0.0 : f32
  // expected-note @+1 {{linalg.fill, of a dynamic shape: 1 op}}
  linalg.fill ins(%z : f32) outs(%m : memref<4xf32>)
  // expected-note @+1 {{tensor.cast, of a dynamic shape: 1 op}}
  %s = tensor.cast %d : tensor<?xf32> to tensor<4xf32>
  %r = linalg.add ins(%b, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected ops of linalg, tensor, arith and math on tensors of static shape, got 1 kinds of others}}
func.func @attention(%q: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %e = tensor.empty() : tensor<1x4x8xf32>
  // expected-note @+1 {{tm_tensor.attention, which nodes do not express: 1 op}}
  %r = "tm_tensor.attention"(%q, %q, %q, %e) <{operandSegmentSizes = array<i32: 3, 1>}> ({
  ^bb0(%x: f32):
    "tm_tensor.yield"(%x) : (f32) -> ()
  }) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}

// -----

// expected-error @+1 {{expected a function of one block, got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  cf.br ^next
^next:
  return %a : tensor<4xf32>
}
