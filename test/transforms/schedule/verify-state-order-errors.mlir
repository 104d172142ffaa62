// RUN: zero-opt %s --split-input-file --zero-verify-state-order --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

zero.buffer parameter @bucket0 : tensor<8xf32> shards 1
func.func @step(%x: tensor<8xf32>) {
  // expected-note @+1 {{written here}}
  zero.write @bucket0, %x : tensor<8xf32>
  // expected-error @+1 {{reads @bucket0 after it was written}}
  %0 = zero.read @bucket0 : tensor<8xf32>
  return
}

// -----

zero.buffer parameter @bucket0 : tensor<8xf32> shards 1
func.func @step(%x: tensor<8xf32>) {
  zero.write @bucket0, %x : tensor<8xf32>
  // expected-error @+1 {{writes @bucket0 a second time}}
  zero.write @bucket0, %x : tensor<8xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no zero.name for messages}}
  %0 = zero.all_gather %x : (tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no zero.name for messages}}
  %0 = zero.all_reduce %x : tensor<8xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no zero.name for messages}}
  %0 = zero.reduce_scatter %x : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

// The update itself may still read the value that was read before the write.
zero.buffer parameter @bucket0 : tensor<8xf32> shards 1
func.func @step() {
  %0 = zero.read @bucket0 : tensor<8xf32>
  %1 = zero.launch @update(%0) : (tensor<8xf32>) -> tensor<8xf32>
  zero.write @bucket0, %1 : tensor<8xf32>
  return
}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}) -> tensor<?xf32> attributes {zero.kernel} {
  return %p : tensor<?xf32>
}

// -----

// But no op may read it through the buffer once the update has overwritten its bytes.
zero.buffer parameter @bucket0 : tensor<8xf32> shards 1
func.func @step() -> tensor<8xf32> {
  %0 = zero.read @bucket0 : tensor<8xf32>
  // expected-note @+1 {{overwritten here}}
  %1 = zero.launch @update(%0) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{reads @bucket0 after its bytes were overwritten}}
  %2 = arith.negf %0 : tensor<8xf32>
  zero.write @bucket0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}) -> tensor<?xf32> attributes {zero.kernel} {
  return %p : tensor<?xf32>
}
