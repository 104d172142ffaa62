// RUN: zero-opt %s --verify-diagnostics --zero-form-kernels

func.func @step(%s: f32) -> tensor<4xf32> {
  // expected-error @+1 {{'tensor.splat' reads a scalar argument: expected a tensor of one element}}
  %y = tensor.splat %s : tensor<4xf32>
  return %y : tensor<4xf32>
}
