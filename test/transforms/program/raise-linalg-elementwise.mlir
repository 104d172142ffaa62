// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// The body of a parallel loop is a sequence of elementwise nodes. Operands broadcast as in NumPy; a
// tensor is expanded only where the result is nothing but that.

#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#swapped = affine_map<(d0, d1) -> (d1, d0)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @broadcasts(%arg0: tensor<3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<3x1xf32>, %arg3: tensor<f32>, %arg4: tensor<4x3xf32>)
// CHECK-NEXT: %[[T:.*]] = onnx.node "Transpose"(%arg4) {perm = array<i64: 1, 0>}
// CHECK-NEXT: %[[A:.*]] = onnx.node "Add"(%arg0, %arg1)
// CHECK-NEXT: %[[B:.*]] = onnx.node "Mul"(%[[A]], %arg2)
// CHECK-NEXT: %[[C:.*]] = onnx.node "Sub"(%[[B]], %arg3)
// CHECK-NEXT: %[[D:.*]] = onnx.node "Div"(%[[C]], %[[T]])
// CHECK-NEXT: return %[[D]]
func.func @broadcasts(%x: tensor<3x4xf32>, %row: tensor<4xf32>, %column: tensor<3x1xf32>, %one: tensor<f32>, %t: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #column, #none, #swapped, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %row, %column, %one, %t : tensor<3x4xf32>, tensor<4xf32>, tensor<3x1xf32>, tensor<f32>, tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %f: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    %2 = arith.subf %1, %d : f32
    %3 = arith.divf %2, %f : f32
    linalg.yield %3 : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// A copy is nothing, a repetition an Expand, a conversion a Cast.
// CHECK-LABEL: func.func @moves
// CHECK: %[[E:.*]] = onnx.node "Expand"(%arg1, %{{.*}})
// CHECK-NEXT: %[[C:.*]] = onnx.node "Cast"(%arg0) {to = 11 : i64}
// CHECK-NEXT: return %arg0, %[[E]], %[[C]]
func.func @moves(%x: tensor<3x4xf32>, %row: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf64>) {
  %e = tensor.empty() : tensor<3x4xf32>
  %w = tensor.empty() : tensor<3x4xf64>
  %copy = linalg.copy ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %expanded = linalg.broadcast ins(%row : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %wide = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%w : tensor<3x4xf64>) {
  ^bb0(%a: f32, %out: f64):
    %0 = arith.extf %a : f32 to f64
    linalg.yield %0 : f64
  } -> tensor<3x4xf64>
  return %copy, %expanded, %wide : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf64>
}

// A comparison that is true for NaN keeps it, as Relu does; one that is false does not.
// CHECK-LABEL: func.func @relu
// CHECK: %[[A:.*]] = onnx.node "Relu"(%arg0)
// CHECK: %[[TEST:.*]] = onnx.node "Greater"(%arg0, %{{.*}})
// CHECK: %[[B:.*]] = onnx.node "Where"(%[[TEST]], %arg0, %{{.*}})
// CHECK: return %[[A]], %[[B]]
func.func @relu(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%e, %e : tensor<3x4xf32>, tensor<3x4xf32>) {
  ^bb0(%a: f32, %out: f32, %out1: f32):
    %0 = arith.cmpf ugt, %a, %zero : f32
    %1 = arith.select %0, %a, %zero : f32
    %2 = arith.cmpf ogt, %a, %zero : f32
    %3 = arith.select %2, %a, %zero : f32
    linalg.yield %1, %3 : f32, f32
  } -> (tensor<3x4xf32>, tensor<3x4xf32>)
  return %r#0, %r#1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// Scalars of the function are constants; what follows from them alone is computed here.
// CHECK-LABEL: func.func @constants
// CHECK: %[[SUM:.*]] = arith.constant dense<1.000010e+00> : tensor<f32>
// CHECK-NEXT: %[[A:.*]] = onnx.node "Add"(%arg0, %[[SUM]])
// CHECK-NEXT: %[[B:.*]] = onnx.node "Sigmoid"(%[[A]])
// CHECK: %[[THREE:.*]] = arith.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[C:.*]] = onnx.node "Pow"(%[[B]], %[[THREE]])
// CHECK-NEXT: return %[[C]]
func.func @constants(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %eps = arith.constant 1.000000e-05 : f64
  %unit = arith.constant 1.0 : f32
  %three = arith.constant 3 : i64
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.truncf %eps : f64 to f32
    %1 = arith.addf %0, %unit : f32
    %2 = arith.addf %a, %1 : f32
    %3 = arith.negf %2 : f32
    %4 = math.exp %3 : f32
    %5 = arith.addf %4, %unit : f32
    %6 = arith.divf %unit, %5 : f32
    %7 = math.fpowi %6, %three : f32, i64
    linalg.yield %7 : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// Positions are constants as large as their dimension.
// CHECK-LABEL: func.func @positions
// CHECK-DAG: %[[ROWS:.*]] = arith.constant dense<{{\[\[}}0], [1], [2]]> : tensor<3x1xi64>
// CHECK-DAG: %[[COLUMNS:.*]] = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
// CHECK: %[[MASK:.*]] = onnx.node "LessOrEqual"(%[[COLUMNS]], %[[ROWS]]) {{.*}} -> tensor<3x4xi1>
// CHECK: return %[[MASK]]
func.func @positions() -> tensor<3x4xi1> {
  %e = tensor.empty() : tensor<3x4xi1>
  %r = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x4xi1>) {
  ^bb0(%out: i1):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.cmpi sle, %1, %0 : index
    linalg.yield %2 : i1
  } -> tensor<3x4xi1>
  return %r : tensor<3x4xi1>
}

// CHECK-LABEL: func.func @many_positions
// CHECK: onnx.node "Range"
func.func @many_positions() -> tensor<10000xi64> {
  %e = tensor.empty() : tensor<10000xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<10000xi64>) {
  ^bb0(%out: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    linalg.yield %1 : i64
  } -> tensor<10000xi64>
  return %r : tensor<10000xi64>
}

// Named ops, maps, and ops on whole tensors.
// CHECK-LABEL: func.func @named
// CHECK: %[[A:.*]] = onnx.node "Add"(%arg0, %arg1)
// CHECK: %[[B:.*]] = onnx.node "Exp"(%[[A]])
// CHECK: %[[C:.*]] = onnx.node "Max"(%[[B]], %arg1)
// CHECK: %[[D:.*]] = onnx.node "Mul"(%[[C]], %arg0)
// CHECK: %[[E:.*]] = onnx.node "Sqrt"(%[[D]])
// CHECK: %[[F:.*]] = onnx.node "Tanh"(%[[E]])
// CHECK: %[[G:.*]] = onnx.node "Softmax"(%[[F]]) {axis = 1 : i64}
// CHECK: return %[[G]]
func.func @named(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.add ins(%x, %y : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = linalg.exp ins(%0 : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = linalg.elementwise kind=#linalg.elementwise_kind<max_signed> ins(%1, %y : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = linalg.map {arith.mulf} ins(%2, %x : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>)
  %4 = math.sqrt %3 : tensor<3x4xf32>
  %5 = linalg.tanh ins(%4 : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %6 = linalg.softmax dimension(1) ins(%5 : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %6 : tensor<3x4xf32>
}
