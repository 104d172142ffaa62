// RUN: zero-opt %s --zero-deduplicate-kernels | FileCheck %s

// Names, locations and other discardable attributes do not distinguish kernels. A constant, a type,
// an operand, a nested op or an in-place argument does.
// CHECK-LABEL: func.func @step
// CHECK: zero.launch @a(
// CHECK: zero.launch @a(
// CHECK: zero.launch @constant(
// CHECK: zero.launch @operand(
// CHECK: zero.launch @inplace(
// CHECK: zero.launch @nested(
// CHECK: zero.launch @type(
// CHECK: zero.launch @a(
func.func @step(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  %0 = zero.launch @a(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = zero.launch @same(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = zero.launch @constant(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = zero.launch @operand(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = zero.launch @inplace(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = zero.launch @nested(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = zero.launch @type(%y, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = zero.launch @again(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

#id = affine_map<(d0) -> (d0)>
// CHECK: func.func private @a(
func.func private @a(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %c = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-NOT: @same
func.func private @same(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel, note = "other"} {
  %c = arith.constant {note = "other"} 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @constant(
func.func private @constant(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %c = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @operand(
func.func private @operand(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %c = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @inplace(
func.func private @inplace(%x: tensor<4xf32>, %y: tensor<4xf32> {zero.inplace = 0 : i64}) -> tensor<4xf32> attributes {zero.kernel} {
  %c = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @nested(
func.func private @nested(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %c = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @type(
func.func private @type(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {zero.kernel} {
  %c = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-NOT: @again
func.func private @again(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  %c = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// A function that is not a kernel does not change.
// CHECK: func.func private @helper(
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK: func.func private @helper2(
func.func private @helper2(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
