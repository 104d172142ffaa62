// Steps of whole tensors. Where each rank has a tensor of one shape, a launch reads the rank's slice of
// the gradients. Of different shapes, a launch runs on the owner of its tensor. A tensor that fits into
// no slice is updated by every rank from the whole gradient, and all ranks have its states.
// RUN: zero-opt %s --zero-build-step="optimizer=adafactor" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s
// RUN: zero-opt %s --zero-build-step="optimizer=adafactor" --zero-place-state="stage=2 ranks=2" --zero-assign-buckets | sed s/zero.owner.=.1/zero.owner=0/ | not zero-opt --zero-partition-step 2>&1 | FileCheck %s --check-prefix=WRONG

// WRONG: error: 'zero.parameter' op expected zero.owner = 1, whose slice of bucket0 it is in, got 0

// CHECK-DAG: zero.parameter @a {{.*}}start = 0 : i64, zero.owner = 0 : i64, zero.step_operations = {{[0-9.e+]+}}
// CHECK-DAG: zero.parameter @b {{.*}}start = 65536 : i64, zero.owner = 1
// CHECK-DAG: zero.buffer optimizer @bucket0.whole0 : tensor<256xf32> shards 2
// CHECK-DAG: zero.state optimizer @b.row_var of @b : tensor<256xf32> {home = @bucket0.whole0, {{.*}}start = 256
// CHECK-DAG: zero.state optimizer @e.row_var of @e : tensor<64xf32> {placement = #zero.placement<>, {{.*}}zero.whole}
zero.parameter @a : tensor<256x256xf32> {data = #zero.data<"m.onnx", 0, 262144>}
zero.parameter @b : tensor<256x256xf32> {data = #zero.data<"m.onnx", 262144, 262144>}
zero.parameter @c : tensor<16x8xf32> {data = #zero.data<"m.onnx", 524288, 512>}
zero.parameter @d : tensor<128xf32> {data = #zero.data<"m.onnx", 524800, 512>}
zero.parameter @e : tensor<64x128xf32> {data = #zero.data<"m.onnx", 525312, 32768>}

func.func @step(%da: tensor<256x256xf32>, %db: tensor<256x256xf32>, %dc: tensor<16x8xf32>, %dd: tensor<128xf32>, %de: tensor<64x128xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}) {
  %ga = zero.gradient @a, %da : tensor<256x256xf32> -> tensor<256x256xf32>
  %gb = zero.gradient @b, %db : tensor<256x256xf32> -> tensor<256x256xf32>
  %gc = zero.gradient @c, %dc : tensor<16x8xf32> -> tensor<16x8xf32>
  %gd = zero.gradient @d, %dd : tensor<128xf32> -> tensor<128xf32>
  %ge = zero.gradient @e, %de : tensor<64x128xf32> -> tensor<64x128xf32>

  // CHECK-DAG: %[[EQUAL:.*]] = zero.reduce_scatter {{.*}} : (tensor<131072xf32>) -> tensor<65536xf32>
  // CHECK-DAG: %[[OTHER:.*]] = zero.reduce_scatter {{.*}} : (tensor<256xf32>) -> tensor<128xf32>
  // CHECK-DAG: %[[CUT:.*]] = zero.reduce_scatter {{.*}} : (tensor<8192xf32>) -> tensor<4096xf32>

  // A rank measures its slice of parameters; nothing of that is gathered.
  // CHECK: %[[SQUARES:.*]] = zero.launch @parameter_squares({{.*}} (tensor<1024x64xf32>) -> tensor<1024xf32>
  // CHECK-NOT: zero.all_gather
  // CHECK: %[[A:.*]] = zero.member %[[EQUAL]] at 0 {{.*}} -> tensor<256x256xf32>
  // CHECK: zero.launch @tensor_step_0(%[[A]], {{.*}}) {gradient = 0 : i64, updates = @bucket0, zero.gradient_start = array<i64: 0, 65536>
  // CHECK: zero.launch @update(

  // CHECK: zero.launch @parameter_squares({{.*}} (tensor<2x64xf32>) -> tensor<2xf32>
  // CHECK-DAG: %[[C:.*]] = zero.member %[[OTHER]] at 0 {{.*}} -> tensor<16x8xf32>
  // CHECK-DAG: %[[D:.*]] = zero.member %[[OTHER]] at 0 {{.*}} -> tensor<128xf32>
  // CHECK: zero.launch @tensor_step_1(%[[C]], {{.*}}) if %[[OWNS_C:[a-z_0-9]+]]
  // CHECK: zero.launch @take_steps({{.*}}) if %[[OWNS_C]]
  // CHECK-NOT: if %[[OWNS_C]] {gradient
  // CHECK: zero.launch @tensor_step_2(%[[D]], {{.*}}) if %[[OWNS_D:[a-z_0-9]+]]
  // CHECK: zero.launch @take_steps({{.*}}) if %[[OWNS_D]]

  // CHECK: %[[WHOLE:.*]] = zero.all_gather %[[CUT]] {zero.name = "bucket2.gradient"
  // CHECK: %[[E:.*]] = zero.member %[[WHOLE]] at 0
  // CHECK: zero.launch @tensor_step_3(%[[E]], {{[^)]*}}) {gradient
  // CHECK: zero.write @e.row_var
  return %l : tensor<f32>
}
