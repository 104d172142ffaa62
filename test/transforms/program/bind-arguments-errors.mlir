// RUN: not zero-opt %s --split-input-file --zero-bind-arguments 2>&1 | FileCheck %s

// CHECK: error: nothing to train: the program does not say which arguments are state
// CHECK: note: a whole step: donate its state (jax.jit with donate_argnums), or pair arguments and results with --carry=IN=OUT,...
// CHECK: note: a joint graph: name the gradients with --roles=FILE, or with zero.gradient_of on results
// CHECK: note: forward and loss: mark parameters with zero.role = "parameter", or in --roles=FILE
func.func @nothing(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// CHECK: error: tf.aliasing_output: expected 'arg0' and 'result0' to have one type, got 'tensor<4xf32>' and 'tensor<f32>'
func.func @types(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// CHECK: error: argument 0: expected tf.aliasing_output to be the number of a result, got 7
func.func @number(%w: tensor<f32> {tf.aliasing_output = 7 : i32}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// CHECK: error: the program has several results of one float: 'result1', 'result2'
// CHECK: note: choose one with --loss NAME
func.func @losses(%w: tensor<f32> {tf.aliasing_output = 0 : i32}, %x: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  return %w, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// CHECK: error: argument 1: expected a name of its own, got 'w'
func.func @names(%a: tensor<f32> {zero.name = "w"}, %b: tensor<f32> {zero.name = "w"}) -> tensor<f32> {
  return %a : tensor<f32>
}

// -----

// CHECK: error: argument 0: expected a name of UTF-8, got 'w{{.+}}'
func.func @bytes(%a: tensor<f32> {zero.name = "w\FF"}) -> tensor<f32> {
  return %a : tensor<f32>
}

// -----

// CHECK: error: result 0: expected a name of UTF-8, got 'l{{.+}}'
func.func @result_bytes(%a: tensor<f32>) -> (tensor<f32> {zero.name = "l\FF"}) {
  return %a : tensor<f32>
}

// -----

// CHECK: error: argument 0: expected zero.role = "parameter", "buffer" or "data", got "weight"
func.func @role(%a: tensor<f32> {zero.role = "weight"}) -> tensor<f32> {
  return %a : tensor<f32>
}

// -----

// CHECK: error: result 1: the program has no argument "v"
func.func @gradient(%a: tensor<f32>) -> (tensor<f32>, tensor<f32> {zero.gradient_of = "v"}) {
  return %a, %a : tensor<f32>, tensor<f32>
}

// -----

// CHECK: error: argument 0: expected a tensor of static shape, got 'tensor<?xf32>'
func.func @dynamic(%a: tensor<?xf32>, %l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}
