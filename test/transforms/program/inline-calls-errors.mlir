// RUN: zero-opt %s --zero-inline-calls --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected no recursion, got a call of 'f' inside of it}}
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected a function of these types with one block as 'outside'}}
  %0 = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{expected one public function, or one with the name 'main', got 2 public functions}}
module {
  func.func @a() {
    return
  }
  func.func @b() {
    return
  }
}
