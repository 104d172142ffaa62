// RUN: zero-opt %s --split-input-file --zero-verify-partition --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module attributes {zero.ranks = 2 : i64} {
}

// -----

// expected-error @+1 {{expected zero.ranks; run zero-place-state first}}
module {
  func.func @step() {
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @step(%x: tensor<f32>) {
    // expected-error @+1 {{'zero.rank_mean' op is left after partition}}
    %0 = zero.rank_mean %x : tensor<f32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @step() {
    // expected-error @+1 {{'zero.rank_share' op is left after partition}}
    %0 = zero.rank_share : tensor<f32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  zero.parameter @w : tensor<8xf32>
  func.func @step(%x: tensor<8xf32>) {
    // expected-error @+1 {{'zero.gradient' op is left after partition}}
    %0 = zero.gradient @w, %x : tensor<8xf32> -> tensor<8xf32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @step(%x: tensor<f32>) {
    %0 = arith.negf %x {zero.schedule = #zero.schedule<epilogue>} : tensor<f32>
    // expected-error @+1 {{'arith.negf' op of the micro-batch follows the epilogue}}
    %1 = arith.negf %x : tensor<f32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @step(%x: tensor<f32>) {
    // expected-error @+1 {{'zero.micro_mean' op is left after partition}}
    %0 = zero.micro_mean %x : tensor<f32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @step(%x: tensor<8xf32>) {
    // expected-error @+1 {{'zero.square_sum' op is left after partition}}
    %0 = zero.square_sum %x by [@blocks, @total] : (tensor<8xf32>) -> tensor<f64>
    return
  }
}

// -----

// Views, constants and reads are not executed: they open no segment.
module attributes {zero.ranks = 2 : i64} {
  zero.state constant @c : tensor<4xf32>
  func.func @step(%x: tensor<4xf32>) {
    %c = zero.read @c : tensor<4xf32>
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %v = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    %m = zero.member %x at 0 : (tensor<4xf32>) -> tensor<2xf32>
    %0 = arith.negf %x {zero.schedule = #zero.schedule<prologue>} : tensor<4xf32>
    %1 = arith.negf %x : tensor<4xf32>
    // expected-error @+1 {{'arith.negf' op of the prologue follows the micro-batch}}
    %2 = arith.negf %x {zero.schedule = #zero.schedule<prologue>} : tensor<4xf32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @step(%x: tensor<f32>) {
    %0 = arith.negf %x {zero.schedule = #zero.schedule<epilogue>} : tensor<f32>
    // expected-error @+1 {{'arith.negf' op of the prologue follows the micro-batch}}
    %1 = arith.negf %x {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
    return
  }
}

// -----

module attributes {zero.ranks = 2 : i64} {
  // expected-error @+1 {{'zero.parameter' op has no buffer after partition}}
  zero.parameter @w : tensor<8xf32>
  func.func @step() {
    return
  }
}

// -----

// Stage 3 requires a slice, but the state has all elements.
module attributes {zero.ranks = 2 : i64} {
  zero.buffer parameter @bucket0 : tensor<128xf32> shards 1
  // expected-error @+1 {{expected 2 shards and space for elements 0 to 8 in @bucket0, got 1 and 256}}
  zero.parameter @w : tensor<8xf32> {home = @bucket0, start = 0 : i64, placement = #zero.placement<shard = [@data]>}
  func.func @step() {
    return
  }
}

// -----

// State beyond the end of its buffer.
module attributes {zero.ranks = 2 : i64} {
  zero.buffer parameter @bucket0 : tensor<64xf32> shards 2
  zero.buffer optimizer @bucket0.m : tensor<64xf32> shards 2
  zero.parameter @w : tensor<8xf32> {home = @bucket0, start = 64 : i64, placement = #zero.placement<shard = [@data]>}
  // expected-error @+1 {{expected 2 shards and space for elements 128 to 136 in @bucket0.m, got 2 and 128}}
  zero.state optimizer @w.m of @w : tensor<8xf32> {home = @bucket0.m, start = 128 : i64, placement = #zero.placement<shard = [@data]>}
  func.func @step() {
    return
  }
}
