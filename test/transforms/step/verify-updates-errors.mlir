// RUN: zero-opt %s --split-input-file --zero-verify-updates --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

// expected-error @+1 {{expected 1 update of parameter 'w', got 0}}
zero.parameter @w : tensor<8xf32>
// expected-error @+1 {{expected 1 update of parameter 'v', got 2}}
zero.parameter @v : tensor<8xf32>
// expected-error @+1 {{expected 0 update of parameter 'frozen', got 1}}
zero.parameter @frozen : tensor<8xf32> {frozen}
zero.parameter @right : tensor<8xf32>
func.func @step(%x: tensor<8xf32>) {
  zero.update @v [], %x by @sgd() : tensor<8xf32>
  zero.update @v [], %x by @sgd() : tensor<8xf32>
  zero.update @frozen [], %x by @sgd() : tensor<8xf32>
  zero.update @right [], %x by @sgd() : tensor<8xf32>
  return
}
func.func private @sgd(%p: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  return %p : tensor<?xf32>
}
