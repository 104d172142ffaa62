// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s

// Where JAX placed a tensor does not matter here.

// CHECK-LABEL: func.func @shardings
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2]>}> : () -> ()
func.func @shardings(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "Sharding", backend_config = "", has_side_effect = false}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.optimization_barrier"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
