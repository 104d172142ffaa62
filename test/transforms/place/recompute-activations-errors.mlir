// RUN: zero-opt %s --split-input-file --verify-diagnostics --zero-recompute-activations

func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
zero.parameter @w : tensor<8xf32>
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32> {zero.binding = "loss"}) attributes {zero.runs = []} {
  // expected-error@+1 {{expected a run of its layer for a value that is read after forward}}
  %a = zero.launch @tanh(%x) {layer = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %l = zero.launch @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-note@+1 {{read here}}
  %d = zero.launch @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %g = zero.gradient @w, %d : tensor<8xf32> -> tensor<8xf32>
  return %l : tensor<8xf32>
}

// -----

func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32> {zero.binding = "loss"}, tensor<8xf32>)
    attributes {zero.runs = [#zero.run<0 to 0>]} {
  // expected-error@+1 {{expected its result in kept for a value that is read after forward}}
  %a = zero.launch @tanh(%x) {layer = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %l = zero.launch @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-note@+1 {{read here}}
  return %l, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// expected-error@+1 {{expected a run of layers 0 to 0, got #zero.run<0 to 1>}}
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32> {zero.binding = "loss"}) attributes {zero.runs = [#zero.run<0 to 1>]} {
  %l = zero.launch @tanh(%x) {layer = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %l : tensor<8xf32>
}
func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}

// -----

func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel}
func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32> {zero.binding = "loss"}) attributes {zero.runs = []} {
  %a = zero.launch @tanh(%x) {layer = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error@+1 {{expected layer 1 or a later one, got 0}}
  %l = zero.launch @tanh(%a) {layer = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %l : tensor<8xf32>
}
