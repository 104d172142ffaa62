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

// What zero.from_jax writes says what a derivative is. The largest element of a row is cut in front
// of its reduction.

// CHECK-LABEL: func.func @derivatives
// CHECK: %[[CUT:.*]] = onnx.node "StopGradient"(%arg0) {} domain "zero" opset 1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[X:.*]] = onnx.node "StopGradient"(%arg0)
// CHECK: onnx.node "ReduceMax"(%[[X]],
// CHECK: %[[RELU:.*]] = onnx.node "Relu"(%arg0)
// CHECK: %[[SIX:.*]] = onnx.node "StopGradient"
// CHECK: %[[RELU6:.*]] = onnx.node "Where"(%{{.*}}, %arg0, %[[SIX]])
// CHECK: return %[[CUT]], %{{.*}}, %[[RELU]], %[[RELU6]]
func.func @derivatives(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) {
  %lowest = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "zero.stop_gradient"}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.reduce"(%x, %lowest) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
  %3 = "stablehlo.custom_call"(%2) <{call_target_name = "zero.stop_gradient"}> : (tensor<1xf32>) -> tensor<1xf32>
  %4 = "stablehlo.custom_call"(%x) <{call_target_name = "zero.relu"}> : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.custom_call"(%x) <{call_target_name = "zero.relu6"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %3, %4, %5 : tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>
}
