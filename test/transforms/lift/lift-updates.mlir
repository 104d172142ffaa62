// A whole step becomes parameters, gradients and updates.
// RUN: zero-opt --split-input-file --zero-lift-updates %s | FileCheck %s

// Momentum with a learning rate that is an input, decay, and a counter of steps. The two parameters
// have the same update and share its kernel; each has the correction of its own, computed once.

// CHECK: module attributes {{.*}}zero.optimizer = "the model's own"
module attributes {zero.whole_step} {
  // CHECK: zero.parameter @w : tensor<4x2xf32> {required}
  // CHECK-NEXT: zero.state optimizer @speed of @w : tensor<4x2xf32> {slot = "state0", splat = 0.000000e+00 : f64}
  zero.state constant @speed : tensor<4x2xf32> {splat = 0.0}
  // CHECK-NEXT: zero.parameter @b : tensor<2xf32> {required}
  // CHECK-NEXT: zero.state optimizer @drift of @b : tensor<2xf32> {slot = "state0", splat = 0.000000e+00 : f64}
  zero.state constant @drift : tensor<2xf32> {splat = 0.0}
  zero.state constant @w : tensor<4x2xf32> {required}
  zero.state constant @b : tensor<2xf32> {required}
  // CHECK: zero.state optimizer @count : tensor<f32>
  zero.state constant @count : tensor<f32> {splat = 0.0}

  // CHECK-LABEL: func.func @step
  // CHECK-SAME: %[[RATE:[a-z0-9]+]]: tensor<f32> {zero.binding = "learning_rate"}
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}, %lr: tensor<f32> {zero.binding = "lr"})
      -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %b = zero.read @b : tensor<2xf32>
    %v = zero.read @speed : tensor<4x2xf32>
    %d = zero.read @drift : tensor<2xf32>
    %t = zero.read @count : tensor<f32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %decay = arith.constant dense<0.9> : tensor<f32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %p = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %y = onnx.node "Add"(%p, %b) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %z = onnx.node "Tanh"(%y) {} opset 18 : (tensor<8x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%z, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %zz = onnx.node "Mul"(%z, %z) {} opset 18 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %dy = onnx.node "Sub"(%one, %zz) {} opset 18 : (tensor<f32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    // CHECK: %[[GW:.*]] = onnx.node "MatMul"{{.*}} node "gw"
    %gw = onnx.node "MatMul"(%xt, %dy) {} opset 18 node "gw" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    // CHECK: %[[GB:.*]] = onnx.node "ReduceSum"{{.*}} node "gb"
    %gb = onnx.node "ReduceSum"(%dy, %rows) {keepdims = 0 : i64} opset 18 node "gb"
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    // CHECK-NOT: onnx.node
    // CHECK: %[[SHARE:.*]] = zero.rank_share : tensor<f32>
    // CHECK-NEXT: %[[TW:.*]] = zero.gradient @w, %[[GW]]
    // CHECK-NEXT: %[[TB:.*]] = zero.gradient @b, %[[GB]]
    // CHECK-NEXT: %[[S:.*]]:3 = zero.launch @update_scalars(%{{.*}}) {zero.name = "update_scalars", zero.schedule = {{.*}}} : {{.*}} -> (tensor<f32>, tensor<f32>, tensor<f32>)
    // CHECK-NEXT: zero.update @w [@speed], %[[TW]] by @update(%[[SHARE]], %[[S]]#0)
    // CHECK-NEXT: zero.update @b [@drift], %[[TB]] by @update(%[[SHARE]], %[[S]]#0)
    // CHECK-NEXT: zero.write @count, %[[S]]#1
    // CHECK-NOT: zero.write
    %n = onnx.node "Add"(%t, %one) {} opset 18 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %r0 = onnx.node "Div"(%lr, %n) {} opset 18 node "r0" : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %r1 = onnx.node "Div"(%lr, %n) {} opset 18 node "r1" : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %v0 = onnx.node "Mul"(%v, %decay) {} opset 18 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %v1 = onnx.node "Add"(%v0, %gw) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %w0 = onnx.node "Mul"(%v1, %r0) {} opset 18 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %w1 = onnx.node "Sub"(%w, %w0) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %d0 = onnx.node "Mul"(%d, %decay) {} opset 18 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %d1 = onnx.node "Add"(%d0, %gb) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %b0 = onnx.node "Mul"(%d1, %r1) {} opset 18 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %b1 = onnx.node "Sub"(%b, %b0) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    zero.write @w, %w1 : tensor<4x2xf32>
    zero.write @speed, %v1 : tensor<4x2xf32>
    zero.write @b, %b1 : tensor<2xf32>
    zero.write @drift, %d1 : tensor<2xf32>
    zero.write @count, %n : tensor<f32>
    return %loss : tensor<f32>
  }
}

// CHECK: func.func private @update_scalars(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK: func.func private @update(%{{.*}}: tensor<?xf32> {zero.inplace = 0 : i64}, %{{.*}}: tensor<?xf32> {zero.inplace = 1 : i64}, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK: linalg.generic
// CHECK-NOT: func.func private @update

// -----

// An average of the weights follows its parameter; a running sum of the batch is a buffer.

// CHECK: zero.parameter @w
// CHECK-NEXT: zero.state optimizer @average of @w : tensor<2xf32> {slot = "state0"
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  zero.state constant @average : tensor<2xf32> {splat = 1.0}
  // CHECK: zero.state constant @sum : tensor<8x2xf32>
  zero.state constant @sum : tensor<8x2xf32> {splat = 0.0}
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    %a = zero.read @average : tensor<2xf32>
    %s = zero.read @sum : tensor<8x2xf32>
    %half = arith.constant dense<0.5> : tensor<f32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %y = onnx.node "Mul"(%x, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %g = onnx.node "ReduceMean"(%x, %rows) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%w, %g) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %a0 = onnx.node "Add"(%a, %n) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %a1 = onnx.node "Mul"(%a0, %half) {} opset 18 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %s1 = onnx.node "Add"(%s, %x) {} opset 18 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    // CHECK: zero.write @sum
    // CHECK: zero.update @w [@average]
    zero.write @w, %n : tensor<2xf32>
    zero.write @average, %a1 : tensor<2xf32>
    zero.write @sum, %s1 : tensor<8x2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// What the backward pass saved in another shape is a coefficient of the gradient.

// CHECK: zero.parameter @w
// CHECK: %[[G:.*]] = onnx.node "Mul"{{.*}} node "gradient"
// CHECK: zero.gradient @w, %[[G]]
// CHECK-NOT: onnx.node
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %mean = onnx.node "ReduceMean"(%x, %rows) {keepdims = 1 : i64} opset 18
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %c = onnx.node "Sub"(%x, %mean) {} opset 18 : (tensor<8x2xf32>, tensor<1x2xf32>) -> tensor<8x2xf32>
    %y = onnx.node "Mul"(%c, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %saved = onnx.node "Squeeze"(%mean, %rows) {} opset 18 : (tensor<1x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %sum = onnx.node "ReduceSum"(%c, %rows) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %g = onnx.node "Mul"(%sum, %saved) {} opset 18 node "gradient" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%w, %g) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    zero.write @w, %n : tensor<2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// State that ranks compute alike is no buffer: it is written once a step, from nodes of the
// epilogue. A learning rate of shape [1] becomes a scalar, which the runtime sets.

// CHECK: zero.parameter @w
// CHECK: zero.state constant @key : tensor<2xi64>
// CHECK: zero.state constant @fixed : tensor<3xf32>
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  zero.state constant @key : tensor<2xi64> {splat = 1.0}
  zero.state constant @fixed : tensor<3xf32> {splat = 1.0}
  // CHECK: func.func @step({{.*}}, %[[LR:[a-z0-9]+]]: tensor<f32> {zero.binding = "learning_rate"})
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}, %lr: tensor<1xf32> {zero.binding = "lr"})
      -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    // CHECK-DAG: %[[KEY:.*]] = zero.read @key
    %k = zero.read @key : tensor<2xi64>
    // CHECK-DAG: %[[FIXED:.*]] = zero.read @fixed
    %f = zero.read @fixed : tensor<3xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %three = arith.constant dense<3> : tensor<i64>
    %y = onnx.node "Mul"(%x, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %g = onnx.node "ReduceMean"(%x, %rows) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %s = onnx.node "Mul"(%g, %lr) {} opset 18 : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%w, %s) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %k1 = onnx.node "Add"(%k, %three) {} opset 18 : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
    // CHECK: zero.launch @update_scalars(%[[LR]])
    // CHECK: zero.update @w
    // CHECK: %[[NEXT:.*]] = onnx.node "Add"(%[[KEY]], %{{.*}}) {{{.*}}} {{.*}} {zero.schedule = #zero.schedule<epilogue>}
    // CHECK-NEXT: zero.write @key, %[[NEXT]] {zero.schedule = #zero.schedule<epilogue>}
    // CHECK-NEXT: zero.write @fixed, %[[FIXED]] {zero.schedule = #zero.schedule<epilogue>}
    zero.write @w, %n : tensor<2xf32>
    zero.write @key, %k1 : tensor<2xi64>
    zero.write @fixed, %f : tensor<3xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Running statistics of a batch normalization are buffers: the loss does not depend on them.

// CHECK: zero.parameter @scale
// CHECK: zero.state constant @mean : tensor<2xf32>
// CHECK: zero.state constant @var : tensor<2xf32>
module attributes {zero.whole_step} {
  zero.state constant @scale : tensor<2xf32> {splat = 1.0}
  zero.state constant @mean : tensor<2xf32> {splat = 0.0}
  zero.state constant @var : tensor<2xf32> {splat = 1.0}
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %s = zero.read @scale : tensor<2xf32>
    %m = zero.read @mean : tensor<2xf32>
    %v = zero.read @var : tensor<2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %bias = arith.constant dense<0.0> : tensor<2xf32>
    // CHECK: %[[NORM:.*]]:3 = onnx.node "BatchNormalization"
    %y:3 = onnx.node "BatchNormalization"(%x, %s, %bias, %m, %v) {training_mode = 1 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
        -> (tensor<8x2xf32>, tensor<2xf32>, tensor<2xf32>)
    %loss = onnx.node "ReduceMean"(%y#0, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %g = onnx.node "ReduceMean"(%y#0, %rows) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%s, %g) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // CHECK-DAG: zero.write @mean, %[[NORM]]#1 : tensor<2xf32>
    // CHECK-DAG: zero.write @var, %[[NORM]]#2 : tensor<2xf32>
    // CHECK-DAG: zero.update @scale []
    zero.write @scale, %n : tensor<2xf32>
    zero.write @mean, %y#1 : tensor<2xf32>
    zero.write @var, %y#2 : tensor<2xf32>
    return %loss : tensor<f32>
  }
}
