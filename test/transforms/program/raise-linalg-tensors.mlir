// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// Views, parts and lists of tensors.

// CHECK-LABEL: func.func @views
// CHECK: onnx.node "Reshape"(%arg0, {{.*}} -> tensor<2x3x4xf32>
// CHECK: onnx.node "Reshape"(%arg0, {{.*}} -> tensor<24xf32>
// CHECK: onnx.node "Transpose"(%arg0) {perm = array<i64: 1, 0>}
// CHECK-NOT: tensor.
// CHECK: return
func.func @views(%x: tensor<6x4xf32>) -> (tensor<2x3x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<6x4xf32>) {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<2x3x4xf32> into tensor<24xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %2 = linalg.transpose ins(%x : tensor<6x4xf32>) outs(%e : tensor<4x6xf32>) permutation = [1, 0]
  %shape = arith.constant dense<[6, 4]> : tensor<2xi64>
  %3 = tensor.reshape %1(%shape) : (tensor<24xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  return %0, %1, %2, %3 : tensor<2x3x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<6x4xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK: %[[A:.*]] = onnx.node "Slice"(%arg0, {{.*}} -> tensor<3x2xf32>
// CHECK: %[[B:.*]] = onnx.node "Slice"(%arg0, {{.*}} -> tensor<1x4xf32>
// CHECK: onnx.node "Reshape"(%[[B]], {{.*}} -> tensor<4xf32>
func.func @slices(%x: tensor<6x4xf32>) -> (tensor<3x2xf32>, tensor<4xf32>) {
  %0 = tensor.extract_slice %x[1, 1] [3, 2] [2, 1] : tensor<6x4xf32> to tensor<3x2xf32>
  %1 = tensor.extract_slice %x[2, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<4xf32>
}

// Into one value: a Pad. Between the other rows: a Concat. Elsewhere: selected by a mask.
// CHECK-LABEL: func.func @insertions
// CHECK: %[[A:.*]] = onnx.node "Pad"(%arg1
// CHECK: %[[B0:.*]] = onnx.node "Slice"(%arg0
// CHECK: %[[B1:.*]] = onnx.node "Slice"(%arg0
// CHECK: %[[B:.*]] = onnx.node "Concat"(%[[B0]], %arg2, %[[B1]]) {axis = 0 : i64}
// CHECK: %[[MASK:.*]] = onnx.node "And"
// CHECK: %[[C:.*]] = onnx.node "Where"(%[[MASK]], %{{.*}}, %arg0)
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @insertions(%x: tensor<6x4xf32>, %s: tensor<2x4xf32>, %rows: tensor<2x4xf32>, %part: tensor<2x2xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<6x4xf32>
  %0 = tensor.insert_slice %s into %zeros[3, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  %1 = tensor.insert_slice %rows into %x[2, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  %2 = tensor.insert_slice %part into %x[1, 1] [2, 2] [3, 1] : tensor<2x2xf32> into tensor<6x4xf32>
  return %0, %1, %2 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// Insertions into a tensor without content are a Concat, too.
// CHECK-LABEL: func.func @joined
// CHECK: onnx.node "Pad"(%arg0
// CHECK: onnx.node "Concat"(%arg0, %arg1) {axis = 1 : i64}
// CHECK: %[[C:.*]] = onnx.node "Concat"(%arg0, %arg1, %arg1) {axis = 1 : i64}
// CHECK: return %{{.*}}, %{{.*}}, %[[C]]
func.func @joined(%x: tensor<2x3xf32>, %y: tensor<2x2xf32>) -> (tensor<4x4xf32>, tensor<2x5xf32>, tensor<2x7xf32>) {
  %one = arith.constant 1.0 : f32
  %0 = tensor.pad %x low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<2x3xf32> to tensor<4x4xf32>
  %1 = tensor.concat dim(1) %x, %y : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  %e = tensor.empty() : tensor<2x7xf32>
  %2 = tensor.insert_slice %x into %e[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x7xf32>
  %3 = tensor.insert_slice %y into %2[0, 3] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x7xf32>
  %4 = tensor.insert_slice %y into %3[0, 5] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x7xf32>
  return %0, %1, %4 : tensor<4x4xf32>, tensor<2x5xf32>, tensor<2x7xf32>
}

// Casts to a dynamic shape and back are nothing; pads may cut.
// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: tensor.
// CHECK: %[[C:.*]] = onnx.node "Concat"(%arg0, %arg1) {axis = 1 : i64}
// CHECK: %[[PADS:.*]] = arith.constant dense<[0, -1, 0, 2]> : tensor<4xi64>
// CHECK: %[[P:.*]] = onnx.node "Pad"(%[[C]], %[[PADS]], %{{.*}}) {} {{.*}} -> tensor<2x6xf32>
// CHECK: return %[[P]]
func.func @dynamic(%x: tensor<2x3xf32>, %y: tensor<2x2xf32>) -> tensor<2x6xf32> {
  %one = arith.constant 1.0 : f32
  %0 = tensor.cast %x : tensor<2x3xf32> to tensor<2x?xf32>
  %1 = tensor.cast %y : tensor<2x2xf32> to tensor<2x?xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x5xf32>
  %3 = tensor.pad %2 low[0, -1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<2x5xf32> to tensor<2x6xf32>
  return %3 : tensor<2x6xf32>
}

// Scalars of the function are tensors of one element to nodes.
// CHECK-LABEL: func.func @scalars
// CHECK: onnx.node "Slice"(%arg0
// CHECK: %[[S:.*]] = onnx.node "Slice"({{.*}} -> tensor<1x1xf32>
// CHECK: %[[R:.*]] = onnx.node "Reshape"(%[[S]], {{.*}} -> tensor<f32>
// CHECK: %[[T:.*]] = onnx.node "Mul"(%[[R]], %{{.*}}) {} {{.*}} -> tensor<f32>
// CHECK: onnx.node "Expand"(%[[T]], {{.*}} -> tensor<2x3xf32>
// CHECK: onnx.node "Concat"
// CHECK: onnx.node "Add"(%arg0, %[[T]])
// CHECK: onnx.node "ScatterND"
// CHECK-NOT: tensor.
// CHECK: return
func.func @scalars(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %i = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %s = tensor.extract %x[%i, %i] : tensor<2x3xf32>
  %t = arith.mulf %s, %two : f32
  %0 = tensor.splat %t : tensor<2x3xf32>
  %1 = tensor.from_elements %t, %s : tensor<2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %2 = linalg.map ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) (%a: f32, %out: f32) {
    %b = arith.addf %a, %t : f32
    linalg.yield %b : f32
  }
  %3 = tensor.insert %t into %x[%i, %i] : tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @generated
// CHECK: onnx.node "Less"
// CHECK-NOT: tensor.generate
func.func @generated() -> tensor<3x4xi1> {
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c = arith.cmpi slt, %i, %j : index
    tensor.yield %c : i1
  } : tensor<3x4xi1>
  return %0 : tensor<3x4xi1>
}

// Ops of a step stay as they are.
zero.parameter @w : tensor<4x8xf32> {splat = 0.5}
// CHECK-LABEL: func.func @step
// CHECK: %[[W:.*]] = zero.read @w
// CHECK: onnx.node "MatMul"(%arg0, %[[W]])
// CHECK: %[[L:.*]] = onnx.node "ReduceSum"
// CHECK: %[[T:.*]] = onnx.node "Transpose"(%arg0)
// CHECK: %[[DW:.*]] = onnx.node "MatMul"(%[[T]], %{{.*}})
// CHECK: zero.gradient @w, %[[DW]]
// CHECK: return %[[L]]
func.func @step(%x: tensor<3x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @w : tensor<4x8xf32>
  %y0 = arith.constant dense<0.0> : tensor<3x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x8xf32>) outs(%y0 : tensor<3x8xf32>) -> tensor<3x8xf32>
  %l0 = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%y : tensor<3x8xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  %dy = arith.constant dense<1.0> : tensor<3x8xf32>
  %t0 = tensor.empty() : tensor<4x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x4xf32>) outs(%t0 : tensor<4x3xf32>) permutation = [1, 0]
  %dw0 = arith.constant dense<0.0> : tensor<4x8xf32>
  %dw = linalg.matmul ins(%t, %dy : tensor<4x3xf32>, tensor<3x8xf32>) outs(%dw0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = zero.gradient @w, %dw : tensor<4x8xf32> -> tensor<4x8xf32>
  return %loss : tensor<f32>
}
