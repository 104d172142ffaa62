// RUN: zero-opt %s --split-input-file --verify-diagnostics

func.func @fields(%x: tensor<4x4xf32>) {
  // expected-error @below {{unknown field 'lhs_contracting'}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting = [1]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
}

// -----

func.func @letters(%x: tensor<4x4x4xf32>) {
  // expected-error @below {{expected 'b', 'f', 'i', 'o' or a number, got 'q'}}
  %0 = "stablehlo.convolution"(%x, %x) <{dimension_numbers = #stablehlo.conv<[q, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4x4x4xf32>, tensor<4x4x4xf32>) -> tensor<4x4x1xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %0 = "stablehlo.negate"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @constant() {
  // expected-error @below {{expected a value of the type of the result, got 'tensor<i32>'}}
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<2xi32>
  return
}

// -----

func.func @loop(%x: tensor<i32>) {
  // expected-error @below {{expected a condition that returns a tensor<i1>, and a body that returns the next operands}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return
}
