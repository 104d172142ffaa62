// Two ranks own a matrix of another shape each: a launch runs on the owner of its matrix, whose step is
// put into the slice of its rank.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=ns-steps=1 matrix-params=a,b" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=ns-steps=1 matrix-params=a,b" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets | sed s/zero.owner.=.1/zero.owner=0/ | not zero-opt --zero-partition-step 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=ns-steps=1 matrix-params=a,b" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets | sed s/zero.owner.=.1/zero.owner=2/ | not zero-opt --zero-partition-step 2>&1 | FileCheck %s --check-prefix=NONE

// OTHER: error: 'zero.parameter' op expected zero.owner = 1, whose slice of bucket0 it is in, got 0
// NONE: error: 'zero.parameter' op expected zero.owner of 0 to 1; run zero-assign-buckets first

zero.parameter @a : tensor<16x8xf32> {data = #zero.data<"m.onnx", 0, 512>}
zero.parameter @b : tensor<8x16xf32> {data = #zero.data<"m.onnx", 512, 512>}

func.func @step(%da: tensor<16x8xf32>, %db: tensor<8x16xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %ga = zero.gradient @a, %da : tensor<16x8xf32> -> tensor<16x8xf32>
  %gb = zero.gradient @b, %db : tensor<8x16xf32> -> tensor<8x16xf32>

  // CHECK-DAG: %[[FIRST:.*]] = arith.constant dense<[true, false]>
  // CHECK-DAG: %[[OF_A:.*]] = zero.own_slice %[[FIRST]]
  // CHECK-DAG: %[[A:.*]] = tensor.collapse_shape %[[OF_A]] [] : tensor<1xi1> into tensor<i1>
  // CHECK-DAG: %[[SECOND:.*]] = arith.constant dense<[false, true]>
  // CHECK-DAG: %[[OF_B:.*]] = zero.own_slice %[[SECOND]]
  // CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %[[OF_B]] [] : tensor<1xi1> into tensor<i1>
  // CHECK: %[[D:.*]]:2 = zero.launch @direction({{.*}} updates = @bucket0,
  // CHECK: %[[CLEAR:.*]] = zero.launch @clear_steps
  // CHECK-NOT: zero.all_gather
  // CHECK-DAG: %[[VA:.*]] = zero.member %[[D]]#1 at 0 {{.*}} -> tensor<16x8xf32>
  // CHECK-DAG: %[[VB:.*]] = zero.member %[[D]]#1 at 0 {{.*}} -> tensor<8x16xf32>
  // CHECK: zero.launch @matrix0_0_normalise(%[[VA]]) if %[[A]]
  // CHECK: %[[SA:.*]] = zero.launch @take_steps(%[[CLEAR]], {{.*}} if %[[A]]
  // CHECK: zero.launch @matrix0_{{.*}}_normalise(%[[VB]]) if %[[B]]
  // CHECK: %[[SB:.*]] = zero.launch @take_steps(%[[SA]], {{.*}} if %[[B]]
  // CHECK: zero.launch @update(%{{.*}}, %[[SB]],
  return %l : tensor<f32>
}
