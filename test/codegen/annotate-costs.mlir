// RUN: zero-opt %s --zero-annotate-costs | FileCheck %s

// One multiplication and one addition for each of 4 x 8 x 16 steps. Two operands are read and one
// result is written.

// CHECK-LABEL: func.func private @product
// CHECK-SAME: zero.bytes = 896 : i64, zero.flops = 1024 : i64
func.func private @product(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) -> tensor<4x8xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %p : tensor<4x8xf32>
}

// Only the selected rows of a table count.

// CHECK-LABEL: func.func private @gather
// CHECK-SAME: zero.bytes = 208 : i64, zero.flops = 0 : i64
func.func private @gather(%ids: tensor<2xi64>, %table: tensor<1000x12xf32>) -> tensor<2x12xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<2x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<2xi64>) outs(%e : tensor<2x12xf32>) {
  ^bb0(%id: i64, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %id : i64 to index
    %v = tensor.extract %table[%i, %j] : tensor<1000x12xf32>
    linalg.yield %v : f32
  } -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}

// Per element of a dynamic dimension: 12 bytes and a fused multiply-add. The rate is read once.

// CHECK-LABEL: func.func private @update
// CHECK-SAME: zero.bytes = 12 : i64, zero.flops = 2 : i64
func.func private @update(%w: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>, %lr: tensor<f32>) -> tensor<?xf32> attributes {zero.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g, %lr : tensor<?xf32>, tensor<f32>) outs(%w : tensor<?xf32>) {
  ^bb0(%a: f32, %l: f32, %o: f32):
    %u = math.fma %l, %a, %o : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// If rows are added to a table in place, only these rows count, twice: 5 of 48 bytes, with 5
// indices and 5 rows to add.

// CHECK-LABEL: func.func private @add_rows
// CHECK-SAME: zero.bytes = 760 : i64, zero.flops = 60 : i64
func.func private @add_rows(%dy: tensor<5x12xf32>, %ids: tensor<5xi64>, %table: tensor<1000x12xf32> {zero.inplace = 0 : i64}) -> tensor<1000x12xf32> attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %k = %c0 to %c5 step %c1 iter_args(%t = %table) -> (tensor<1000x12xf32>) {
    %id = tensor.extract %ids[%k] : tensor<5xi64>
    %i = arith.index_cast %id : i64 to index
    %d = tensor.extract_slice %dy[%k, 0] [1, 12] [1, 1] : tensor<5x12xf32> to tensor<12xf32>
    %old = tensor.extract_slice %t[%i, 0] [1, 12] [1, 1] : tensor<1000x12xf32> to tensor<12xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%d : tensor<12xf32>) outs(%old : tensor<12xf32>) {
    ^bb0(%a: f32, %o: f32):
      %u = arith.addf %o, %a : f32
      linalg.yield %u : f32
    } -> tensor<12xf32>
    %put = tensor.insert_slice %new into %t[%i, 0] [1, 12] [1, 1] : tensor<12xf32> into tensor<1000x12xf32>
    scf.yield %put : tensor<1000x12xf32>
  }
  return %r : tensor<1000x12xf32>
}

// Per element of the length: where its 64 numbers begin, 8 bytes, the numbers of a list that is
// longer than that, 256 bytes, and their sum.

// CHECK-LABEL: func.func private @sum_parts
// CHECK-SAME: zero.bytes = 268 : i64, zero.flops = 64 : i64
func.func private @sum_parts(%firsts: tensor<?xi64>, %list: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %length = tensor.dim %firsts, %c0 : tensor<?xi64>
  %0 = tensor.empty(%length) : tensor<?xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  %part = tensor.empty() : tensor<64xi8>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%firsts, %part : tensor<?xi64>, tensor<64xi8>) outs(%1 : tensor<?xf32>) {
  ^bb0(%first: i64, %p: i8, %sum: f32):
    %begin = arith.index_cast %first : i64 to index
    %k = linalg.index 1 : index
    %at = arith.addi %begin, %k : index
    %x = tensor.extract %list[%at] : tensor<?xf32>
    %s = arith.addf %sum, %x : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// CHECK-LABEL: func.func @no_kernel
// CHECK-NOT: zero.flops
func.func @no_kernel(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
