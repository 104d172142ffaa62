// Ranks along tensor have shards of two matrices, one cut along rows and one along columns. Two ranks
// along data own one each, so that the launches have conditions. The directions of a bucket are
// gathered along tensor at once, without a condition; each matrix is joined from the lists of ranks,
// that of columns by a launch, and each rank takes its own shard of the step.
// RUN: zero-opt %s --zero-build-step="optimizer=muon settings=ns-steps=1 matrix-params=a,b" --zero-form-kernels --zero-place-state="stage=2 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

// The direction of a whole tensor is its gradient.
// RUN: zero-opt %s --zero-build-step="optimizer=adafactor" --zero-form-kernels --zero-place-state="stage=0 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefix=TENSOR

module attributes {zero.mesh = #zero.mesh<data = 2, tensor = 2>} {
zero.parameter @a : tensor<64x32xf32> {data = #zero.data<"m.onnx", 0, 16384>, zero.shard = #zero.shard<0, [@tensor]>}
zero.parameter @b : tensor<64x32xf32> {data = #zero.data<"m.onnx", 16384, 16384>, zero.shard = #zero.shard<1, [@tensor]>}

func.func @step(%da: tensor<64x32xf32>, %db: tensor<64x32xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %ga = zero.gradient @a, %da : tensor<64x32xf32> -> tensor<64x32xf32>
  %gb = zero.gradient @b, %db : tensor<64x32xf32> -> tensor<64x32xf32>

  // CHECK: %[[D:.*]]:2 = zero.launch @direction(
  // CHECK: %[[L:.*]] = zero.all_gather %[[D]]#1 over <[@tensor]> {{.*}} (tensor<2048xf32>) -> tensor<4096xf32>
  // CHECK-DAG: zero.member %[[L]] at 0 {{.*}} -> tensor<2048xf32>
  // CHECK-DAG: zero.member %[[L]] at 2048 {{.*}} -> tensor<2048xf32>
  // CHECK-NOT: zero.all_gather {{.*}} over <[@tensor]>
  // CHECK: zero.launch @{{.*}}normalise({{.*}} if {{.*}} : (tensor<128x32xf32>
  // CHECK: zero.launch @{{.*}}({{.*}} if {{.*}} : {{.*}} -> tensor<64x32xf32>
  // CHECK: zero.launch @{{.*}}normalise({{.*}} if {{.*}} : (tensor<64x64xf32>

  // TENSOR: %[[D:.*]] = zero.launch @direction({{.*}} updates = @bucket0
  // TENSOR: %[[L:.*]] = zero.all_gather %[[D]] over <[@tensor]>
  // TENSOR: %[[P:.*]] = zero.bucket(
  // TENSOR: zero.launch @tensor_step_0(
  return %l : tensor<f32>
}
}
