// RUN: zero-opt %s --split-input-file --zero-verify-gradients --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

// One gradient per trained parameter, none for frozen ones.
zero.parameter @w : tensor<8xf32>
zero.parameter @frozen : tensor<8xf32> {frozen}
func.func @step(%x: tensor<8xf32>) {
  %g = zero.gradient @w, %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{expected 1 gradient of parameter 'w', got 0}}
zero.parameter @w : tensor<8xf32>
// expected-error @+1 {{expected 1 gradient of parameter 'v', got 2}}
zero.parameter @v : tensor<8xf32>
// expected-error @+1 {{expected 0 gradient of parameter 'frozen', got 1}}
zero.parameter @frozen : tensor<8xf32> {frozen}
func.func @step(%x: tensor<8xf32>) {
  %0 = zero.gradient @v, %x : tensor<8xf32> -> tensor<8xf32>
  %1 = zero.gradient @v, %x : tensor<8xf32> -> tensor<8xf32>
  %2 = zero.gradient @frozen, %x : tensor<8xf32> -> tensor<8xf32>
  return
}
