// RUN: zero-opt %s --split-input-file --zero-assign-buckets --verify-diagnostics

// expected-error @+1 {{expected zero.ranks; run zero-place-state first}}
module {
  func.func @step() {
    return
  }
}

// -----

// expected-error @+1 {{expected a function named @step that is one training step}}
module attributes {zero.ranks = 2 : i64} {
}
