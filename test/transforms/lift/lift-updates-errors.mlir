// Updates that data-parallel ranks cannot compute from one gradient each are refused by name.
// RUN: zero-opt --split-input-file --verify-diagnostics --zero-lift-updates %s

// The update reads a transposed state.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  zero.state constant @m : tensor<2x2xf32> {splat = 1.0}
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %y = onnx.node "Mul"(%x, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %g = onnx.node "ReduceMean"(%x, %rows) {keepdims = 0 : i64} opset 18 node "g"
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %m = zero.read @m : tensor<2x2xf32>
    %s = onnx.node "ReduceMax"(%m, %rows) {keepdims = 0 : i64} opset 18 node "largest"
        : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %r = onnx.node "Mul"(%g, %s) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%w, %r) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // expected-error@+1 {{parameter 'w': expected an update that is elementwise, so that ranks can update shards; it reads ReduceMax node 'largest', of type 'tensor<2xf32>'}}
    zero.write @w, %n : tensor<2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// The deviation of the gradient over samples ties the ranks together.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %y = onnx.node "Mul"(%x, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    // expected-note@+1 {{each rank computes its own ReduceMean node 'g'}}
    %g = onnx.node "ReduceMean"(%x, %rows) {keepdims = 0 : i64} opset 18 node "g"
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %q = onnx.node "Mul"(%x, %x) {} opset 18 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    // expected-note@+1 {{each rank computes its own ReduceMean node 'squares'}}
    %v = onnx.node "ReduceMean"(%q, %rows) {keepdims = 0 : i64} opset 18 node "squares"
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %d = onnx.node "Sqrt"(%v) {} opset 18 node "root" : (tensor<2xf32>) -> tensor<2xf32>
    %r = onnx.node "Div"(%w, %d) {} opset 18 node "quotient" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%r, %g) {} opset 18 node "next" : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // expected-error@+1 {{parameter 'w': its new value depends on the batch otherwise than through one value that is linear in the gradient, so no mean over ranks gives the update of the whole batch}}
    zero.write @w, %n : tensor<2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Two scalars that only the update reads.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  // expected-error@+1 {{inputs 'p' and 'q': expected at most one scalar that only the update reads, the learning rate; make the others constants of the model}}
  func.func @step(
      %x: tensor<8x2xf32> {zero.binding = "x"}, %p: tensor<f32> {zero.binding = "p"},
      %q: tensor<f32> {zero.binding = "q"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %y = onnx.node "Mul"(%x, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %g = onnx.node "ReduceMean"(%x, %rows) {keepdims = 0 : i64} opset 18 node "g"
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %a = onnx.node "Mul"(%g, %p) {} opset 18 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %b = onnx.node "Mul"(%a, %q) {} opset 18 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %n = onnx.node "Sub"(%w, %b) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    zero.write @w, %n : tensor<2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Nothing that the loss reads is carried.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<2xf32> {splat = 1.0}
  zero.state constant @m : tensor<2xf32> {splat = 1.0}
  // expected-error@+1 {{nothing to train: no carried float state reaches the loss}}
  func.func @step(%x: tensor<8x2xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %rows = arith.constant dense<0> : tensor<1xi64>
    %y = onnx.node "Mul"(%x, %w) {} opset 18 : (tensor<8x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %g = onnx.node "ReduceMean"(%x, %rows) {keepdims = 0 : i64} opset 18 node "g"
        : (tensor<8x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    %m = zero.read @m : tensor<2xf32>
    %n = onnx.node "Sub"(%m, %g) {} opset 18 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    zero.write @m, %n : tensor<2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Rows of the gradient are normalized by a state that has one element for each row.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<4x2xf32> {splat = 1.0}
  zero.state constant @rows : tensor<4x1xf32> {splat = 0.0}
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %one = arith.constant dense<1> : tensor<1xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %g = onnx.node "MatMul"(%xt, %y) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %q = onnx.node "Mul"(%g, %g) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %r = onnx.node "ReduceMean"(%q, %one) {keepdims = 1 : i64} opset 18 : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<4x1xf32>
    %old = zero.read @rows : tensor<4x1xf32>
    %sum = onnx.node "Add"(%old, %r) {} opset 18 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    zero.write @rows, %sum : tensor<4x1xf32>
    %d = onnx.node "Div"(%g, %sum) {} opset 18 node "scaled" : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %d) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    // expected-error@+1 {{parameter 'w': expected an update that is elementwise, apart from norms of whole tensors and from what computes the step of a matrix of one value that is elementwise in the gradient; Div node 'scaled' combines elements of MatMul node 'g'}}
    zero.write @w, %n : tensor<4x2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// The step is a product of the gradient, as in Muon, but with the parameter, of which ranks may have
// shards.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<4x2xf32> {splat = 1.0}
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %one = arith.constant dense<1> : tensor<1xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %g = onnx.node "MatMul"(%xt, %y) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %gt = onnx.node "Transpose"(%w) {perm = array<i64: 1, 0>} opset 18 : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %s = onnx.node "MatMul"(%gt, %g) {} opset 18 node "square" : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %o = onnx.node "MatMul"(%g, %s) {} opset 18 node "cube" : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %o) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    // expected-error@+1 {{MatMul node 'cube' combines elements of MatMul node 'g'}}
    zero.write @w, %n : tensor<4x2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Integers that depend on the batch have no mean.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<4x2xf32> {splat = 1.0}
  zero.state constant @seen : tensor<8xi64> {splat = 0.0}
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %one = arith.constant dense<1> : tensor<1xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %g = onnx.node "MatMul"(%xt, %y) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %g) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    zero.write @w, %n : tensor<4x2xf32>
    %l = onnx.node "ArgMax"(%x) {axis = 1 : i64, keepdims = 0 : i64} opset 18 node "largest" : (tensor<8x4xf32>) -> tensor<8xi64>
    // expected-error@+1 {{state 'seen' of 'tensor<8xi64>': expected floats, whose mean ranks carry on, or a new value that does not depend on the batch; each rank computes its own ArgMax node 'largest'}}
    zero.write @seen, %l : tensor<8xi64>
    return %loss : tensor<f32>
  }
}

// -----

// A learning rate has 32 bits.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<4x2xf32> {splat = 1.0}
  // expected-error@+1 {{input 'lr' of 'tensor<f64>': expected a scalar that only the update reads to be a learning rate of f32, carried state, or a constant of the model}}
  func.func @step(%lr: tensor<f64> {zero.binding = "lr"}, %x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %one = arith.constant dense<1> : tensor<1xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %g = onnx.node "MatMul"(%xt, %y) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %r = onnx.node "Cast"(%lr) {to = 1 : i64} opset 18 : (tensor<f64>) -> tensor<f32>
    %d = onnx.node "Mul"(%g, %r) {} opset 18 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %d) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    zero.write @w, %n : tensor<4x2xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Two gradients are one vector with one state, of which each parameter takes its part.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<4x2xf32> {splat = 1.0}
  zero.state constant @v : tensor<12xf32> {splat = 0.0}
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %one = arith.constant dense<1> : tensor<1xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %g = onnx.node "MatMul"(%xt, %y) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %flat = arith.constant dense<-1> : tensor<1xi64>
    %zero = arith.constant dense<0> : tensor<1xi64>
    %eight = arith.constant dense<8> : tensor<1xi64>
    %shape = arith.constant dense<[4, 2]> : tensor<2xi64>
    %v = zero.read @v : tensor<12xf32>
    %f = onnx.node "Reshape"(%g, %flat) {} opset 18 : (tensor<4x2xf32>, tensor<1xi64>) -> tensor<8xf32>
    %b = onnx.node "ReduceSum"(%xt, %one) {keepdims = 0 : i64} opset 18 : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4xf32>
    %all = onnx.node "Concat"(%f, %b) {axis = 0 : i64} opset 18 node "all" : (tensor<8xf32>, tensor<4xf32>) -> tensor<12xf32>
    %q = onnx.node "Mul"(%all, %all) {} opset 18 node "squares" : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %v1 = onnx.node "Add"(%v, %q) {} opset 18 : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %d = onnx.node "Div"(%all, %v1) {} opset 18 node "scaled" : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %p = onnx.node "Slice"(%d, %zero, %eight) {} opset 18 : (tensor<12xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>
    %o = onnx.node "Reshape"(%p, %shape) {} opset 18 : (tensor<8xf32>, tensor<2xi64>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %o) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    // expected-error@+1 {{Div node 'scaled' combines elements of Concat node 'all'}}
    zero.write @w, %n : tensor<4x2xf32>
    zero.write @v, %v1 : tensor<12xf32>
    return %loss : tensor<f32>
  }
}

// -----

// A second head is trained by a loss that is not the result.
module attributes {zero.whole_step} {
  zero.state constant @w : tensor<4x2xf32> {splat = 1.0}
  zero.state constant @head : tensor<4x2xf32> {splat = 1.0}
  func.func @step(%x: tensor<8x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @w : tensor<4x2xf32>
    %h = zero.read @head : tensor<4x2xf32>
    %axes = arith.constant dense<[0, 1]> : tensor<2xi64>
    %y = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %z = onnx.node "MatMul"(%x, %h) {} opset 18 : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %loss = onnx.node "ReduceMean"(%y, %axes) {keepdims = 0 : i64} opset 18
        : (tensor<8x2xf32>, tensor<2xi64>) -> tensor<f32>
    %xt = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} opset 18 : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %s = onnx.node "Add"(%y, %z) {} opset 18 : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %g = onnx.node "MatMul"(%xt, %s) {} opset 18 node "g" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %n = onnx.node "Sub"(%w, %g) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %gh = onnx.node "MatMul"(%xt, %z) {} opset 18 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %m = onnx.node "Sub"(%h, %gh) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    zero.write @w, %n : tensor<4x2xf32>
    // expected-error@+1 {{state 'head': expected a loss that depends on it, as 'w' does; choose another output with --loss}}
    zero.write @head, %m : tensor<4x2xf32>
    return %loss : tensor<f32>
  }
}
