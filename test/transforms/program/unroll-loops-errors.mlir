// RUN: zero-opt %s --zero-unroll-loops --split-input-file --verify-diagnostics

func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  // expected-error @below {{expected a loop whose number of iterations follows from constants; iteration 0 depends on data}}
  // expected-note @below {{the schedule of a step is fixed before it runs; use lax.scan or lax.fori_loop with constant bounds}}
  %0 = "stablehlo.while"(%zero) ({
  ^bb0(%i: tensor<i32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

func.func @endless(%x: tensor<i32>) -> tensor<i32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  // expected-error @below {{expected at most 4000000 ops with all loops unrolled}}
  %0 = "stablehlo.while"(%zero) ({
  ^bb0(%i: tensor<i32>):
    %c = "stablehlo.compare"(%i, %zero) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

func.func @branch(%p: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected no branch that data decides, got stablehlo.case}}
  // expected-note @below {{the schedule of a step is fixed before it runs; compute both branches and select, with jnp.where or lax.select}}
  %0 = "stablehlo.case"(%p) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
