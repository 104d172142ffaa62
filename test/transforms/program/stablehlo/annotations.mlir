// RUN: zero-opt %s --zero-convert-stablehlo | FileCheck %s
// RUN: zero-opt %s --zero-convert-stablehlo -o /dev/null --remark-format=emitRemark --remarks-filter=import 2>&1 | FileCheck %s --check-prefix=REMARK

// Where JAX placed a tensor does not matter here.
// REMARK: constraints on the sharding of intermediate values (1) are ignored: they change no value

// CHECK-LABEL: func.func @shardings
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2]>}> : () -> ()
func.func @shardings(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{"x"}]>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "Sharding", backend_config = "", has_side_effect = false}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.optimization_barrier"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
