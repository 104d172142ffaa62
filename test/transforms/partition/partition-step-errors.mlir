// RUN: zero-opt %s --split-input-file --zero-partition-step --verify-diagnostics

// expected-error @+1 {{expected zero.ranks and zero.buckets; run zero-place-state and zero-assign-buckets first}}
module {
  func.func @step() {
    return
  }
}

// -----

// expected-error @+1 {{expected a function named @step that is one training step}}
module attributes {zero.ranks = 2 : i64, zero.buckets = array<i64>} {
}

// -----

// Two parameters of one bucket with different updates.
module attributes {zero.ranks = 1 : i64, zero.buckets = array<i64: 128>} {
  zero.parameter @a : tensor<64xf32> {home = @bucket0, start = 0 : i64}
  // expected-error @+1 {{expected one update by @adam as for the other parameters of bucket0}}
  zero.parameter @b : tensor<64xf32> {home = @bucket0, start = 64 : i64}
  func.func @step(%x: tensor<64xf32>) {
    %ga = zero.gradient @a, %x : tensor<64xf32> -> tensor<64xf32>
    %gb = zero.gradient @b, %x : tensor<64xf32> -> tensor<64xf32>
    zero.update @a [], %ga by @adam() : tensor<64xf32>
    zero.update @b [], %gb by @sgd() : tensor<64xf32>
    return
  }
  func.func private @adam(%p: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %p : tensor<?xf32>
  }
  func.func private @sgd(%p: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %p : tensor<?xf32>
  }
}
