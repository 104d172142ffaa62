// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// Reads at computed indices. A Gather checks its indices and counts negative ones from the end: of
// PyTorch's checks only "not negative" is left, as an attribute.

#ids = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-LABEL: func.func @embedding
// CHECK: %[[ROWS:.*]] = onnx.node "Gather"(%arg0, %arg1) {axis = 0 : i64, least_index = 0 : i64}
// CHECK-NEXT: return %[[ROWS]]
func.func @embedding(%table: tensor<9x4xf32>, %ids: tensor<5xi64>) -> tensor<5x4xf32> {
  %zero = arith.constant 0 : i64
  %rows = arith.constant 9 : index
  %e = tensor.empty() : tensor<5x4xf32>
  %r = linalg.generic {indexing_maps = [#ids, #all], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi64>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %c = arith.cmpi slt, %i, %rows : index
    cf.assert %c, "index must be smaller than dim size"
    %d = arith.cmpi sge, %id, %zero : i64
    cf.assert %d, "index must be larger or equal to 0"
    %x = tensor.extract %table[%i, %j] : tensor<9x4xf32>
    linalg.yield %x : f32
  } -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

// An index that is counted from the end if it is negative needs no check; one of the columns reads
// along them.
// CHECK-LABEL: func.func @columns
// CHECK: onnx.node "Gather"(%arg0, %arg1) {axis = 1 : i64} {{.*}} -> tensor<9x5xf32>
// CHECK-NEXT: onnx.node "Transpose"
// CHECK-NEXT: return
func.func @columns(%table: tensor<9x4xf32>, %ids: tensor<5xi64>) -> tensor<5x9xf32> {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %e = tensor.empty() : tensor<5x9xf32>
  %r = linalg.generic {indexing_maps = [#ids, #all], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi64>) outs(%e : tensor<5x9xf32>) {
  ^bb0(%id: i64, %out: f32):
    %c = arith.cmpi slt, %id, %zero : i64
    %w = arith.addi %id, %four : i64
    %s = arith.select %c, %w, %id : i64
    %i = arith.index_cast %s : i64 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%j, %i] : tensor<9x4xf32>
    linalg.yield %x : f32
  } -> tensor<5x9xf32>
  return %r : tensor<5x9xf32>
}

// One index for each element.
// CHECK-LABEL: func.func @elements
// CHECK: onnx.node "GatherElements"(%arg0, %arg1) {axis = 1 : i64} {{.*}} -> tensor<5x3xf32>
// CHECK: %[[I:.*]] = onnx.node "Reshape"(%arg2, {{.*}} -> tensor<5x1xi64>
// CHECK: %[[E:.*]] = onnx.node "GatherElements"(%arg0, %[[I]]) {axis = 1 : i64} {{.*}} -> tensor<5x1xf32>
// CHECK: onnx.node "Reshape"(%[[E]], {{.*}} -> tensor<5xf32>
func.func @elements(%x: tensor<5x4xf32>, %at: tensor<5x3xi64>, %labels: tensor<5xi64>) -> (tensor<5x3xf32>, tensor<5xf32>) {
  %e = tensor.empty() : tensor<5x3xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<5x3xi64>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %id : i64 to index
    %y = tensor.extract %x[%i, %j] : tensor<5x4xf32>
    linalg.yield %y : f32
  } -> tensor<5x3xf32>
  %e1 = tensor.empty() : tensor<5xf32>
  %r1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%labels : tensor<5xi64>) outs(%e1 : tensor<5xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %id : i64 to index
    %y = tensor.extract %x[%i, %j] : tensor<5x4xf32>
    linalg.yield %y : f32
  } -> tensor<5xf32>
  return %r, %r1 : tensor<5x3xf32>, tensor<5xf32>
}

// Several computed indices are tuples.
// CHECK-LABEL: func.func @tuples
// CHECK: %[[AT:.*]] = onnx.node "Concat"({{.*}}) {axis = 1 : i64} {{.*}} -> tensor<3x2xi64>
// CHECK: onnx.node "GatherND"(%arg0, %[[AT]]) {} {{.*}} -> tensor<3xf32>
func.func @tuples(%x: tensor<5x4xf32>, %i: tensor<3xi64>, %j: tensor<3xi64>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i, %j : tensor<3xi64>, tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: i64, %b: i64, %out: f32):
    %k = arith.index_cast %a : i64 to index
    %l = arith.index_cast %b : i64 to index
    %y = tensor.extract %x[%k, %l] : tensor<5x4xf32>
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Indices that follow from the loops are views, slices, and gathers at constants; what is checked of
// them holds. Constants that count are loops, too.
// CHECK-LABEL: func.func @affine
// CHECK: onnx.node "Transpose"(%arg0)
// CHECK: %[[BACK:.*]] = arith.constant dense<[3, 2, 1, 0]> : tensor<4xi64>
// CHECK: onnx.node "Gather"(%arg0, %[[BACK]]) {axis = 1 : i64}
// CHECK: onnx.node "Slice"(%arg0
// CHECK-NOT: Gather
// CHECK-NOT: Check
// CHECK: return
func.func @affine(%x: tensor<5x4xf32>) -> (tensor<4x5xf32>, tensor<5x4xf32>, tensor<3x4xf32>) {
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %zero = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e0 : tensor<4x5xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %y = tensor.extract %x[%j, %i] : tensor<5x4xf32>
    linalg.yield %y : f32
  } -> tensor<4x5xf32>
  %e1 = tensor.empty() : tensor<5x4xf32>
  %1 = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e1 : tensor<5x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %three, %j : index
    %y = tensor.extract %x[%i, %k] : tensor<5x4xf32>
    linalg.yield %y : f32
  } -> tensor<5x4xf32>
  %ei = tensor.empty() : tensor<3xi64>
  %ids = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%ei : tensor<3xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    linalg.yield %j : i64
  } -> tensor<3xi64>
  %e2 = tensor.empty() : tensor<3x4xf32>
  %2 = linalg.generic {indexing_maps = [#ids, #all], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<3xi64>) outs(%e2 : tensor<3x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %c = arith.cmpi slt, %i, %five : index
    cf.assert %c, "index must be smaller than dim size"
    %d = arith.cmpi sge, %id, %zero : i64
    cf.assert %d, "index must be larger or equal to 0"
    %y = tensor.extract %x[%i, %j] : tensor<5x4xf32>
    linalg.yield %y : f32
  } -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<4x5xf32>, tensor<5x4xf32>, tensor<3x4xf32>
}

// Any other check is a node that its loop's result goes through.
// CHECK-LABEL: func.func @checked
// CHECK: %[[DOUBLE:.*]] = onnx.node "Add"(%arg0, %arg0)
// CHECK: %[[TEST:.*]] = onnx.node "Greater"(%arg0, %{{.*}})
// CHECK: %[[C:.*]] = onnx.node "CheckTrue"(%[[DOUBLE]], %[[TEST]]) {message = "expected a positive number"} domain "zero"
// CHECK: return %[[C]]
func.func @checked(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.cmpf ogt, %a, %zero : f32
    cf.assert %c, "expected a positive number"
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
