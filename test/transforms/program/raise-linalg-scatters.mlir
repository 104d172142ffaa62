// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// Ops of torch-mlir that linalg lacks, and gathers and scatters of tensor.

// CHECK-LABEL: func.func @embedding_gradient
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<9x4xf32>
// CHECK: %[[I:.*]] = onnx.node "Cast"(%arg1) {to = 7 : i64}
// CHECK: onnx.node "ScatterND"(%[[ZEROS]], %[[I]], %arg0) {reduction = "add"}
func.func @embedding_gradient(%dy: tensor<5x4xf32>, %ids: tensor<5x1xi32>) -> tensor<9x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x4xf32>) -> tensor<9x4xf32>
  %r = "tm_tensor.scatter"(%dy, %ids, %f) <{dimension_map = array<i64: 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
  ^bb0(%update: f32, %element: f32):
    %s = arith.addf %element, %update : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// Updates may have a dimension of one element for each that an index selects.
// CHECK-LABEL: func.func @with_unit_dimension
// CHECK: %[[U:.*]] = onnx.node "Reshape"(%arg0, %{{.*}}) {{.*}} -> tensor<5x4xf32>
// CHECK: onnx.node "ScatterND"(%arg2, %arg1, %[[U]]) {reduction = "add"}
func.func @with_unit_dimension(%dy: tensor<5x1x4xf32>, %ids: tensor<5x1xi64>, %x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %r = "tm_tensor.scatter"(%dy, %ids, %x) <{dimension_map = array<i64: 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
  ^bb0(%update: f32, %element: f32):
    %s = arith.addf %element, %update : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<5x1x4xf32>, tensor<5x1xi64>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// CHECK-LABEL: func.func @index_put
// CHECK: onnx.node "ScatterND"(%arg0, %{{.*}}, %arg2) {reduction = "none"}
func.func @index_put(%x: tensor<9x4xf32>, %at: tensor<5x2xi32>, %values: tensor<5xf32>) -> tensor<9x4xf32> {
  %r = "tm_tensor.scatter"(%values, %at, %x) <{dimension_map = array<i64: 0, 1>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
  ^bb0(%update: f32, %element: f32):
    "tm_tensor.yield"(%update) : (f32) -> ()
  }) : (tensor<5xf32>, tensor<5x2xi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// CHECK-LABEL: func.func @cumsum
// CHECK: %[[AXIS:.*]] = arith.constant dense<1> : tensor<i64>
// CHECK: onnx.node "CumSum"(%arg0, %[[AXIS]]) {exclusive = 0 : i64}
func.func @cumsum(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %f = arith.constant dense<0.0> : tensor<3x4xf32>
  %a = arith.constant dense<0.0> : tensor<3xf32>
  %r:2 = "tm_tensor.scan"(%x, %f, %a) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%element: f32, %sum: f32):
    %s = arith.addf %element, %sum : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return %r#0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @sort
// CHECK: %[[S:.*]]:2 = onnx.node "TopK"(%arg0, %{{.*}}) {axis = 1 : i64, largest = 1 : i64, sorted = 1 : i64}
// CHECK: %[[I:.*]] = onnx.node "GatherElements"(%arg1, %[[S]]#1) {axis = 1 : i64}
// CHECK: return %[[S]]#0, %[[I]]
func.func @sort(%x: tensor<3x4xf32>, %i: tensor<3x4xi64>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %r:2 = "tm_tensor.sort"(%x, %i) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 0, 2>}> ({
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %t = arith.cmpf oge, %a, %b : f32
    "tm_tensor.yield"(%t) : (i1) -> ()
  }) : (tensor<3x4xf32>, tensor<3x4xi64>) -> (tensor<3x4xf32>, tensor<3x4xi64>)
  return %r#0, %r#1 : tensor<3x4xf32>, tensor<3x4xi64>
}

// CHECK-LABEL: func.func @of_tensor
// CHECK: onnx.node "GatherND"(%arg0, %arg1) {} {{.*}} -> tensor<5x4xf32>
// CHECK: onnx.node "Reshape"
// CHECK: onnx.node "ScatterND"(%arg0, %arg1, %{{.*}})
func.func @of_tensor(%x: tensor<9x4xf32>, %at: tensor<5x1xi64>, %rows: tensor<5x1x4xf32>) -> (tensor<5x1x4xf32>, tensor<9x4xf32>) {
  %0 = tensor.gather %x[%at] gather_dims([0]) : (tensor<9x4xf32>, tensor<5x1xi64>) -> tensor<5x1x4xf32>
  %1 = tensor.scatter %rows into %x[%at] scatter_dims([0]) unique : (tensor<5x1x4xf32>, tensor<9x4xf32>, tensor<5x1xi64>) -> tensor<9x4xf32>
  return %0, %1 : tensor<5x1x4xf32>, tensor<9x4xf32>
}
