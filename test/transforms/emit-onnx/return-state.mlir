// RUN: zero-opt %s --zero-return-state | FileCheck %s

// Kernels become nodes on tensors of the shape of the parameter. State that is written becomes
// arguments and results; state that is only read stays. The number of the step is a state, the batch
// has one part, and what an evaluation would read is left out.

// CHECK: zero.state optimizer @zero.step : tensor<i64>
// CHECK: func.func @step(%[[X:[^:]*]]: tensor<3x4xf32> {zero.binding = "x"}, %[[RATE:[^:]*]]: tensor<f32> {zero.binding = "learning_rate"},
// CHECK-SAME: %[[STEP:[^:]*]]: tensor<i64> {zero.binding = "step", zero.state = @zero.step}
// CHECK-SAME: %[[POWER:[^:]*]]: tensor<f64> {zero.binding = "power", zero.state = @power}
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x2xf32> {zero.binding = "w", zero.state = @w}
// CHECK-SAME: %[[M:[^:]*]]: tensor<4x2xf32> {zero.binding = "w.m", zero.state = @w.m}
// CHECK-SAME: tensor<2xf32> {zero.binding = "mean", zero.state = @mean})
// CHECK-SAME: -> (tensor<f32> {zero.binding = "loss"}, tensor<i64> {zero.binding = "step.new"}, tensor<f64> {zero.binding = "power.new"},
// CHECK-SAME: tensor<4x2xf32> {zero.binding = "w.new"}, tensor<4x2xf32> {zero.binding = "w.m.new"}, tensor<2xf32> {zero.binding = "mean.new"})
// CHECK-DAG: %[[PART:.*]] = arith.constant dense<0> : tensor<i64>
// CHECK: %[[FIXED:.*]] = zero.read @fixed
// CHECK: onnx.node "Add"(%{{.*}}, %[[FIXED]])
// CHECK: onnx.node "RandomKey"(%[[STEP]])
// CHECK: onnx.node "RandomUniform"(%{{.*}}, %[[PART]])
// CHECK: %[[LOSS:.*]] = onnx.node "ReduceSum"
// CHECK: %[[G:.*]] = onnx.node "Expand"
// CHECK: %[[SQUARES:.*]] = onnx.node "ReduceSumSquare"(%[[G]])
// CHECK: onnx.node "Cast"(%[[SQUARES]]) {to = 11 : i64}
// CHECK: %[[NEXT_POWER:.*]] = onnx.node "Mul"(%[[POWER]],
// CHECK: %[[S:.*]] = onnx.node "Neg"(%[[RATE]])
// CHECK: %[[NEXT_M:.*]] = onnx.node "Add"(%[[M]], %[[G]]) {{.*}} node "w.update"
// CHECK: %[[CHANGE:.*]] = onnx.node "Mul"(%[[S]], %[[NEXT_M]])
// CHECK: %[[NEXT_W:.*]] = onnx.node "Add"(%[[CHANGE]], %[[W]])
// CHECK: %[[NEXT_STEP:.*]] = onnx.node "Add"(%[[STEP]], %{{.*}})
// CHECK: return %[[LOSS]], %[[NEXT_STEP]], %[[NEXT_POWER]], %[[NEXT_W]], %[[NEXT_M]], %[[FIXED]]
// CHECK-NOT: zero.kernel

zero.parameter @w : tensor<4x2xf32> {splat = 1.0}
zero.parameter @fixed : tensor<2xf32> {splat = 1.0, frozen}
zero.state optimizer @w.m of @w : tensor<4x2xf32> {splat = 0.0}
zero.state buffer @mean : tensor<2xf32> {splat = 0.0}
zero.state optimizer @power : tensor<f64> {splat = 1.0}
func.func @step(%x: tensor<3x4xf32> {zero.binding = "x"}, %lr: tensor<f32> {zero.binding = "learning_rate"}, %part: tensor<i64> {zero.binding = "zero.part"}, %training: tensor<i1> {zero.binding = "zero.training"}, %number: tensor<i64> {zero.binding = "zero.step"}) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}) {
  %w = zero.read @w : tensor<4x2xf32>
  %fixed = zero.read @fixed : tensor<2xf32>
  %mean = zero.read @mean : tensor<2xf32>
  %used = onnx.node "Where"(%training, %fixed, %mean) {} opset 23 : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.node "MatMul"(%x, %w) {} opset 23 : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %z = onnx.node "Add"(%y, %used) {} opset 23 : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %k = onnx.node "RandomKey"(%number) {op = 1 : i64, seed = 2 : i64} domain "zero" opset 1 : (tensor<i64>) -> tensor<4xi32>
  %r = onnx.node "RandomUniform"(%k, %part) {high = 1.0 : f32, low = 0.0 : f32} domain "zero" opset 1 : (tensor<4xi32>, tensor<i64>) -> tensor<3x2xf32>
  %n = onnx.node "Mul"(%z, %r) {} opset 23 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %l = onnx.node "ReduceSum"(%n) {keepdims = 0 : i64} opset 23 : (tensor<3x2xf32>) -> tensor<f32>
  %own = zero.micro_mean %l : tensor<f32>
  %loss = zero.rank_mean %own : tensor<f32>
  %share = zero.rank_share : tensor<f32>
  %local = onnx.node "Expand"(%share) {} opset 23 : (tensor<f32>) -> tensor<4x2xf32>
  %g = zero.gradient @w, %local : tensor<4x2xf32> -> tensor<4x2xf32>
  %s = zero.square_sum %g by [@blocks, @total] : (tensor<4x2xf32>) -> tensor<f64>
  %list = zero.bucket(%s) at [0] : (tensor<f64>) -> tensor<1xf64>
  %norm = zero.launch @total(%list) : (tensor<1xf64>) -> tensor<f64>
  %p = zero.read @power : tensor<f64>
  %next:2 = zero.launch @scalars(%lr, %p) : (tensor<f32>, tensor<f64>) -> (tensor<f64>, tensor<f32>)
  zero.write @power, %next#0 : tensor<f64>
  zero.update @w [@w.m], %g by @update(%next#1) : tensor<4x2xf32>, (tensor<f32>)
  %b = zero.bucket(%used) at [0] : (tensor<2xf32>) -> tensor<64xf32>
  %a = zero.rank_mean %b : tensor<64xf32>
  %m = zero.member %a at 0 : (tensor<64xf32>) -> tensor<2xf32>
  zero.write @mean, %m : tensor<2xf32>
  return %loss, %own : tensor<f32>, tensor<f32>
}
func.func private @blocks(%v: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%v: tensor<?xf64>) -> tensor<f64> attributes {zero.kernel} {
  %empty = tensor.empty() : tensor<f64>
  %zero = arith.constant 0.0 : f64
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<f64>) -> tensor<f64>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%v : tensor<?xf64>) outs(%init : tensor<f64>) {
  ^bb0(%in: f64, %out: f64):
    %1 = arith.addf %out, %in : f64
    linalg.yield %1 : f64
  } -> tensor<f64>
  return %sum : tensor<f64>
}
func.func private @scalars(%lr: tensor<f32>, %p: tensor<f64>) -> (tensor<f64>, tensor<f32>) attributes {zero.kernel} {
  %0 = tensor.extract %p[] : tensor<f64>
  %half = arith.constant 0.5 : f64
  %1 = arith.mulf %0, %half : f64
  %2 = tensor.empty() : tensor<f64>
  %3 = tensor.insert %1 into %2[] : tensor<f64>
  %4 = tensor.extract %lr[] : tensor<f32>
  %5 = arith.negf %4 : f32
  %6 = tensor.empty() : tensor<f32>
  %7 = tensor.insert %5 into %6[] : tensor<f32>
  return %3, %7 : tensor<f64>, tensor<f32>
}
func.func private @update(%w: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64}, %g: tensor<?xf32>, %s: tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel} {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g, %s : tensor<?xf32>, tensor<f32>) outs(%w, %m : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%gi: f32, %si: f32, %wi: f32, %mi: f32):
    %1 = arith.addf %mi, %gi : f32
    %2 = math.fma %si, %1, %wi : f32
    linalg.yield %2, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
