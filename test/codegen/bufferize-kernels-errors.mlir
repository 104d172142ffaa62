// RUN: zero-opt %s --zero-fuse-kernels --zero-bufferize-kernels --split-input-file --verify-diagnostics

// A temporary of unknown size would have to be allocated during the step.

// expected-error@below {{kernel 'reversed' needs a temporary of unknown size: 'memref<?xf32>'}}
// expected-error@below {{cannot bufferize kernel 'reversed'}}
func.func private @reversed(%x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %last = arith.subi %n, %c1 : index
    %j = arith.subi %last, %i : index
    %v = tensor.extract %y[%j] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}
