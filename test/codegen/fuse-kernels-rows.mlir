// Of an op with several results, those that only the same row reads are not stored as a tensor.
// RUN: zero-opt %s --zero-fuse-kernels | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func private @scaled(
// CHECK-SAME: %[[X:[^ ]+]]: tensor<?x8xf32>
// CHECK-NOT: tensor.empty({{.*}}) : tensor<?x8xf32>
// CHECK: %[[R:.+]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[X]]) -> (tensor<?xf32>, tensor<?x8xf32>)
// CHECK-NOT: tensor.empty
// CHECK: return %[[R]]#1, %[[R]]#0
func.func private @scaled(%x: tensor<?x8xf32> {zero.inplace = 0 : i64}, %y: tensor<?xf32> {zero.inplace = 1 : i64}) -> (tensor<?x8xf32>, tensor<?xf32>) attributes {zero.kernel} {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %count = tensor.dim %x, %zero : tensor<?x8xf32>
  %rows = tensor.empty(%count) : tensor<?x8xf32>
  %next:2 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      outs(%x, %rows : tensor<?x8xf32>, tensor<?x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %twice = arith.addf %a, %a : f32
      %square = arith.mulf %a, %a : f32
      linalg.yield %twice, %square : f32, f32
  } -> (tensor<?x8xf32>, tensor<?x8xf32>)
  %start = linalg.fill ins(%none : f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%next#1 : tensor<?x8xf32>) outs(%start : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
  } -> tensor<?xf32>
  %shares = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%next#1, %sum : tensor<?x8xf32>, tensor<?xf32>) outs(%next#0 : tensor<?x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      %e = arith.addf %c, %d : f32
      linalg.yield %e : f32
  } -> tensor<?x8xf32>
  return %shares, %sum : tensor<?x8xf32>, tensor<?xf32>
}
