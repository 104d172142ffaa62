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
