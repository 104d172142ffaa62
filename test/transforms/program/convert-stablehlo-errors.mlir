// RUN: zero-opt %s --zero-convert-stablehlo --split-input-file --verify-diagnostics

// One error lists all ops without a form.

// expected-error @below {{3 ops are not supported}}
func.func @main(%x: tensor<4xf32>, %y: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  // expected-note @below {{stablehlo.cholesky (2 times)}}
  %0 = "stablehlo.cholesky"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.cholesky"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{stablehlo.custom_call: expected an annotation of shardings, or a call that zero.from_jax writes, got a call of 'lapack_spotrf'}}
  %2 = "stablehlo.custom_call"(%1) <{call_target_name = "lapack_spotrf"}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{stablehlo.negate: type tensor<4xcomplex<f32>>}}
  %3 = "stablehlo.negate"(%y) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %2 : tensor<4xf32>
}

// -----

// What an attribute says must fit the types.

// expected-error @below {{4 ops are not supported}}
func.func @main(%x: tensor<4x4xf32>, %i: tensor<i32>) {
  // expected-note @below {{stablehlo.transpose: expected a permutation of the dimensions}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note @below {{stablehlo.dot_general: expected dimensions of both operands in pairs of equal size}}
  %1 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note @below {{stablehlo.abs: expected a result of tensor<4x4xf32>, got tensor<4x4xf64>}}
  %2 = "stablehlo.abs"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf64>
  // expected-note @below {{stablehlo.dynamic_slice: expected a scalar index for each dimension, and sizes within the operand}}
  %3 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 1, 5>}> : (tensor<4x4xf32>, tensor<i32>) -> tensor<1x5xf32>
  return
}

// -----

// jax.shard_map: the shapes in its body are those of one device.

// expected-error @below {{1 op is not supported}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{sdy.manual_computation: expected a program of whole tensors, got a part that computes on the shards of a device (jax.shard_map); write it with jit and shardings}}
  %0 = "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
  ^bb0(%y: tensor<2xf32>):
    "sdy.return"(%y) : (tensor<2xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
