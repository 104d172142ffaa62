// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// A reduction from its neutral element is a ReduceSum or its kin; what its body computes first are
// elementwise nodes; another initial value is combined with the result.

#all = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0, 0)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @sums(%arg0: tensor<3x4xf32>, %arg1: tensor<f32>)
// CHECK: %[[ONE:.*]] = arith.constant dense<1> : tensor<1xi64>
// CHECK: %[[A:.*]] = onnx.node "ReduceSum"(%arg0, %[[ONE]]) {keepdims = 1 : i64} {{.*}} -> tensor<3x1xf32>
// CHECK: %[[B:.*]] = onnx.node "ReduceSum"(%arg0, %{{.*}}) {keepdims = 0 : i64} {{.*}} -> tensor<4xf32>
// CHECK: %[[SQUARE:.*]] = onnx.node "Mul"(%arg0, %arg0)
// CHECK: %[[SUM:.*]] = onnx.node "ReduceSum"(%[[SQUARE]], %{{.*}}) {keepdims = 0 : i64} {{.*}} -> tensor<f32>
// CHECK: %[[C:.*]] = onnx.node "Add"(%arg1, %[[SUM]])
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @sums(%x: tensor<3x4xf32>, %start: tensor<f32>) -> (tensor<3x1xf32>, tensor<4xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x1xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<3x1xf32>) -> tensor<3x1xf32>
  %0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf32>) outs(%f0 : tensor<3x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<3x1xf32>
  %f1 = arith.constant dense<0.0> : tensor<4xf32>
  %1 = linalg.reduce ins(%x : tensor<3x4xf32>) outs(%f1 : tensor<4xf32>) dimensions = [0] (%a: f32, %out: f32) {
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  %2 = linalg.generic {indexing_maps = [#all, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<3x4xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %out, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0, %1, %2 : tensor<3x1xf32>, tensor<4xf32>, tensor<f32>
}

// An extreme and its position. Where nothing reads the position, there is none.
// CHECK-LABEL: func.func @extremes
// CHECK: %[[MAX:.*]] = onnx.node "ReduceMax"(%arg0, %{{.*}}) {keepdims = 0 : i64}
// CHECK-NEXT: %[[AT:.*]] = onnx.node "ArgMax"(%arg0) {axis = 1 : i64, keepdims = 0 : i64}
// CHECK-NOT: ArgMin
// CHECK: %[[MIN:.*]] = onnx.node "ReduceMin"(%arg0, %{{.*}}) {keepdims = 0 : i64} {{.*}} -> tensor<4xf32>
// CHECK-NOT: ArgMin
// CHECK: return %[[MAX]], %[[AT]], %[[MIN]]
func.func @extremes(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xi64>, tensor<4xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %ei = tensor.empty() : tensor<3xi64>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %fi = linalg.fill ins(%zero : i64) outs(%ei : tensor<3xi64>) -> tensor<3xi64>
  %max:2 = linalg.generic {indexing_maps = [#all, #rows, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf32>) outs(%f, %fi : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %out: f32, %outi: i64):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %m = arith.maximumf %a, %out : f32
    %c = arith.cmpf ogt, %a, %out : f32
    %s = arith.select %c, %j, %outi : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  %e4 = tensor.empty() : tensor<4xf32>
  %e4i = tensor.empty() : tensor<4xi64>
  %f4 = linalg.fill ins(%high : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %f4i = linalg.fill ins(%zero : i64) outs(%e4i : tensor<4xi64>) -> tensor<4xi64>
  %min:2 = linalg.generic {indexing_maps = [#all, #columns, #columns], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<3x4xf32>) outs(%f4, %f4i : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %out: f32, %outi: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %m = arith.minimumf %a, %out : f32
    %c = arith.cmpf olt, %a, %out : f32
    %s = arith.select %c, %j, %outi : i64
    linalg.yield %m, %s : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %max#0, %max#1, %min#0 : tensor<3xf32>, tensor<3xi64>, tensor<4xf32>
}

// maxnumf ignores NaN, which ReduceMax does not; booleans are reduced as numbers; a value that
// another one is combined with stays in front.
// CHECK-LABEL: func.func @kinds
// CHECK: %[[NAN:.*]] = onnx.node "IsNaN"(%arg0)
// CHECK: %[[CLEAN:.*]] = onnx.node "Where"(%[[NAN]], %{{.*}}, %arg0)
// CHECK: onnx.node "ReduceMax"(%[[CLEAN]]
// CHECK: %[[BYTES:.*]] = onnx.node "Cast"(%arg1) {to = 3 : i64}
// CHECK: %[[ANY:.*]] = onnx.node "ReduceMax"(%[[BYTES]]
// CHECK: onnx.node "Cast"(%[[ANY]]) {to = 9 : i64}
// CHECK: onnx.node "ReduceProd"(%arg2
func.func @kinds(%x: tensor<3x4xf32>, %b: tensor<3x4xi1>, %n: tensor<3x4xi64>) -> (tensor<3xf32>, tensor<3xi1>, tensor<4xi64>) {
  %f = arith.constant dense<0xFF800000> : tensor<3xf32>
  %0 = linalg.reduce {arith.maxnumf} ins(%x : tensor<3x4xf32>) outs(%f : tensor<3xf32>) dimensions = [1]
  %false = arith.constant dense<false> : tensor<3xi1>
  %1 = linalg.reduce {arith.ori} ins(%b : tensor<3x4xi1>) outs(%false : tensor<3xi1>) dimensions = [1]
  %one = arith.constant dense<1> : tensor<4xi64>
  %2 = linalg.reduce {arith.muli} ins(%n : tensor<3x4xi64>) outs(%one : tensor<4xi64>) dimensions = [0]
  return %0, %1, %2 : tensor<3xf32>, tensor<3xi1>, tensor<4xi64>
}
