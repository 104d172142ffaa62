// States with shapes of their own are in the owner's slices of their homes. Where each rank has one
// matrix of a shape, all ranks read and write their slices. Otherwise a rank writes a state only if it
// owns the matrix and, where steps may be skipped, the step is applied.
// RUN: zero-opt %s --zero-build-step="optimizer=shampoo settings=root-steps=1 matrix-params=a,b,c" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=shampoo settings=root-steps=1 matrix-params=a,b,c" --zero-place-state="stage=0 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s --check-prefix=WHOLE

// Of a and b 16 * 16 elements of a rank, of c alone 8 * 8.
// CHECK-DAG: zero.buffer optimizer @bucket0.whole0 : tensor<256xf32>
// CHECK-DAG: zero.buffer optimizer @bucket0.whole1 : tensor<64xf32>
// CHECK-DAG: zero.buffer optimizer @bucket1.whole0 : tensor<64xf32>
// CHECK-DAG: zero.state optimizer @a.left of @a : tensor<16x16xf32> {home = @bucket0.whole0, {{.*}}start = 0 : i64
// CHECK-DAG: zero.state optimizer @b.left of @b : tensor<16x16xf32> {home = @bucket0.whole0, {{.*}}start = 256 : i64
zero.parameter @a : tensor<16x8xf32> {data = #zero.data<"m.onnx", 0, 512>}
zero.parameter @b : tensor<16x8xf32> {data = #zero.data<"m.onnx", 512, 512>}
zero.parameter @c : tensor<8x8xf32> {data = #zero.data<"m.onnx", 1024, 256>}

func.func @step(%da: tensor<16x8xf32>, %db: tensor<16x8xf32>, %dc: tensor<8x8xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %ga = zero.gradient @a, %da : tensor<16x8xf32> -> tensor<16x8xf32>
  %gb = zero.gradient @b, %db : tensor<16x8xf32> -> tensor<16x8xf32>
  %gc = zero.gradient @c, %dc : tensor<8x8xf32> -> tensor<8x8xf32>

  // CHECK: %[[S:.*]] = zero.read @bucket0.whole0 {{.*}} : tensor<256xf32>
  // CHECK: %[[L:.*]] = zero.member %[[S]] at 0 {{.*}} : (tensor<256xf32>) -> tensor<16x16xf32>
  // CHECK: %[[N:.*]] = zero.launch @matrix0_{{.*}}_advance(%[[L]],
  // CHECK-NOT: take_steps
  // CHECK: %[[W:.*]] = zero.bucket(%[[N]]) at [0]
  // CHECK: zero.write @bucket0.whole0, %[[W]]

  // CHECK: %[[T:.*]] = zero.read @bucket1.whole0
  // CHECK: %[[M:.*]] = zero.member %[[T]] at 0 {{.*}} : (tensor<64xf32>) -> tensor<8x8xf32>
  // CHECK: %[[A:.*]] = zero.launch @matrix0_{{.*}}_advance(%[[M]], %{{.*}}) if %[[C:[a-z_0-9]+]]
  // CHECK: %[[B:.*]] = zero.bucket(%[[A]]) at [0]
  // CHECK: %[[K:.*]] = zero.launch @take_steps(%[[T]], %[[B]]) if %[[C]]
  // CHECK: zero.write @bucket1.whole0, %[[K]]

  // WHOLE: zero.state optimizer @a.left of @a
  // WHOLE: %[[L:.*]] = zero.read @a.left
  // WHOLE: %[[N:.*]] = zero.launch @matrix0_{{.*}}_advance(%[[L]],
  // WHOLE: zero.write @a.left, %[[N]]
  return %l : tensor<f32>
}
