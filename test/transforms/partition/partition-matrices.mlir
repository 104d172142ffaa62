// Two ranks own one of two matrices of a shape each: a rank makes the step of its slice, and gathers
// only parameters. Slices of four ranks cut them: directions are gathered, the owner of a matrix
// makes its step, and a reduction takes it to the slices.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=ns-steps=1 matrix-params=a,b" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefix=OWN
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=ns-steps=1 matrix-params=a,b" --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefix=ALL

zero.parameter @a : tensor<16x8xf32> {data = #zero.data<"m.onnx", 0, 512>}
zero.parameter @b : tensor<16x8xf32> {data = #zero.data<"m.onnx", 512, 512>}

func.func @step(%da: tensor<16x8xf32>, %db: tensor<16x8xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %ga = zero.gradient @a, %da : tensor<16x8xf32> -> tensor<16x8xf32>
  %gb = zero.gradient @b, %db : tensor<16x8xf32> -> tensor<16x8xf32>

  // OWN: %[[G:.*]] = zero.reduce_scatter {{.*}} -> tensor<128xf32>
  // OWN: %[[M:.*]] = zero.read @bucket0.momentum_buffer
  // OWN: %[[D:.*]]:2 = zero.launch @direction(%[[M]], %[[G]], {{.*}} {gradient = 1 : i64, updates = @bucket0,
  // OWN: zero.write @bucket0.momentum_buffer, %[[D]]#0
  // OWN-NOT: zero.all_gather
  // OWN: %[[V:.*]] = zero.member %[[D]]#1 at 0
  // OWN: zero.launch @matrix0_0_normalise(%[[V]])
  // OWN-NOT: normalise
  // OWN: %[[S:.*]] = zero.bucket(%{{.*}}) at [0] {{.*}} -> tensor<128xf32>
  // OWN: %[[U:.*]] = zero.launch @update(%{{.*}}, %[[S]],
  // OWN: zero.all_gather %[[U]]

  // ALL: %[[D:.*]]:2 = zero.launch @direction({{.*}} updates = @bucket0,
  // ALL: %[[W:.*]] = zero.all_gather %[[D]]#1
  // ALL: zero.launch @clear_steps
  // ALL: %[[V:.*]] = zero.member %[[W]] at 0
  // ALL: zero.launch @matrix0_0_normalise(%[[V]]) if %[[C:[a-z_0-9]+]]
  // ALL: %[[S:.*]] = zero.launch @take_steps({{.*}} if %[[C]]
  // ALL: %[[O:.*]] = zero.reduce_scatter %[[S]]
  // ALL: zero.launch @update(%{{.*}}, %[[O]],
  // ALL: zero.launch @direction({{.*}} updates = @bucket1,
  // ALL: zero.launch @matrix0_0_normalise({{.*}} if
  return %l : tensor<f32>
}
