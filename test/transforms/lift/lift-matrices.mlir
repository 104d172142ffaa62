// An update that multiplies matrices: a launch advances the momentum and gives the direction, the
// nodes between direction and step run once, at the end, and the update applies the step. The batch
// is known by one gradient.
// RUN: zero-opt --zero-lift-updates %s | FileCheck %s

module attributes {zero.whole_step} {
  // The products have 32 operations each, the transposition 8.
  // CHECK: zero.parameter @w : tensor<4x2xf32> {required, zero.step_operations = 7.200000e+01 : f64}
  // CHECK-NEXT: zero.state optimizer @speed of @w : tensor<4x2xf32> {slot = "state0", splat = 0.000000e+00 : f64}
  zero.state constant @speed : tensor<4x2xf32> {splat = 0.0}
  zero.state constant @w : tensor<4x2xf32> {required}

  // CHECK-LABEL: func.func @step
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %v = zero.read @speed : tensor<4x2xf32>
    %decay = arith.constant dense<0.9> : tensor<f32>
    %rate = arith.constant dense<0.1> : tensor<f32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    // CHECK: %[[G:.*]] = onnx.node "MatMul"{{.*}} node "g"
    %g = onnx.node "MatMul"(%xt, %y) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %v0 = onnx.node "Mul"(%v, %decay) {} opset 18 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %v1 = onnx.node "Add"(%v0, %g) {} opset 18 node "speed" : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    zero.write @speed, %v1 : tensor<4x2xf32>
    %t = onnx.node "Transpose"(%v1) {perm = array<i64: 1, 0>} opset 18 node "t" : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %gram = onnx.node "MatMul"(%t, %v1) {} opset 18 node "gram" : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %s = onnx.node "MatMul"(%v1, %gram) {} opset 18 node "s" : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %scaled = onnx.node "Mul"(%s, %rate) {} opset 18 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %scaled) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    zero.write @w, %n : tensor<4x2xf32>
    // CHECK-NOT: onnx.node
    // CHECK: %[[SHARE:.*]] = zero.rank_share : tensor<f32>
    // CHECK-NEXT: %[[SUM:.*]] = zero.gradient @w, %[[G]]
    // CHECK-NEXT: %[[M:.*]] = zero.read @speed {zero.schedule = #zero.schedule<epilogue>}
    // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[M]]
    // CHECK: %[[GRADIENT:.*]] = tensor.collapse_shape %[[SUM]]
    // CHECK: %[[D:.*]]:2 = zero.launch @direction(%[[FLAT]], %[[GRADIENT]], %[[SHARE]]) {zero.direction = [@clear_steps, @take_steps], zero.name = "w.direction", zero.schedule = #zero.schedule<epilogue>}
    // CHECK: %[[NEXT:.*]] = tensor.expand_shape %[[D]]#0
    // CHECK-NEXT: zero.write @speed, %[[NEXT]]
    // CHECK: %[[V:.*]] = tensor.expand_shape %[[D]]#1
    // CHECK-NEXT: %[[T:.*]] = onnx.node "Transpose"(%[[V]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
    // CHECK-NEXT: %[[GRAM:.*]] = onnx.node "MatMul"(%[[T]], %[[V]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
    // CHECK-NEXT: %[[S:.*]] = onnx.node "MatMul"(%[[V]], %[[GRAM]]) {{.*}}zero.schedule = #zero.schedule<epilogue>
    // CHECK-NEXT: zero.update @w [], %[[S]] by @update(%[[SHARE]])
    // CHECK-NOT: zero.write
    return %loss : tensor<f32>
  }
}
// CHECK: func.func private @update(%{{.*}}: tensor<?xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<f32>)
// CHECK: func.func private @direction(
