// RUN: zero-opt %s --zero-fuse-kernels | FileCheck %s

// One loop over rows. It contains one loop for the maximum, one for the exponentials and their sum,
// and one that writes the result and adds to the sums of the columns. Only the row of exponentials
// is stored.

// CHECK-LABEL: func.func private @softmax_and_column_sum
// CHECK-SAME: %[[X:.*]]: tensor<8x32xf32>
// CHECK-DAG: %[[Y:.*]] = tensor.empty() : tensor<8x32xf32>
// CHECK-DAG: %[[ZERO:.*]] = linalg.fill
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[YI:.*]] = %[[Y]], %[[CI:.*]] = %[[ZERO]])
// CHECK:   %[[MAX:.*]] = scf.for {{.*}} -> (f32)
// CHECK:     arith.maximumf
// CHECK:   %[[ROW:.*]] = tensor.empty() : tensor<32xf32>
// CHECK:   %[[EXP:.*]]:2 = scf.for {{.*}} -> (tensor<32xf32>, f32)
// CHECK:     %[[D:.*]] = arith.subf %{{.*}}, %[[MAX]]
// CHECK:     %[[E:.*]] = math.exp %[[D]]
// CHECK:     arith.addf %{{.*}}, %[[E]] fastmath<reassoc>
// CHECK:     tensor.insert %[[E]]
// CHECK:   scf.for {{.*}} -> (tensor<8x32xf32>, tensor<32xf32>)
// CHECK:     %[[R:.*]] = arith.divf %{{.*}}, %[[EXP]]#1
// CHECK:     %[[S:.*]] = arith.addf %{{.*}}, %[[R]]
// CHECK:     tensor.insert %[[R]] into %{{.*}}[%[[I]], %{{.*}}] : tensor<8x32xf32>
// CHECK:     tensor.insert %[[S]]
// CHECK-NOT: linalg.generic
#r = affine_map<(d0, d1) -> (d0)>
#c = affine_map<(d0, d1) -> (d1)>
#i = affine_map<(d0, d1) -> (d0, d1)>
func.func private @softmax_and_column_sum(%x: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<32xf32>) attributes {zero.kernel} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e8 = tensor.empty() : tensor<8xf32>
  %e32 = tensor.empty() : tensor<32xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e32 : tensor<32xf32>) -> tensor<32xf32>
  %max = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%f0 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.maximumf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<8x32xf32>, tensor<8xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = math.exp %d : f32
    linalg.yield %q : f32
  } -> tensor<8x32xf32>
  %sum = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x32xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]} ins(%p, %sum : tensor<8x32xf32>, tensor<8xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<8x32xf32>
  %columns = linalg.generic {indexing_maps = [#i, #c], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<8x32xf32>) outs(%f2 : tensor<32xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  return %y, %columns : tensor<8x32xf32>, tensor<32xf32>
}

// An optimizer's update reads and writes through one iteration argument.

// CHECK-LABEL: func.func private @momentum
// CHECK-SAME: %[[W:.*]]: tensor<?xf32> {zero.inplace = 0 : i64}
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[WI:.*]] = %[[W]])
// CHECK:   %[[OLD:.*]] = tensor.extract %[[WI]][%[[I]]]
// CHECK:   %[[NEW:.*]] = math.fma %{{.*}}, %{{.*}}, %[[OLD]]
// CHECK:   tensor.insert %[[NEW]] into %[[WI]][%[[I]]]
func.func private @momentum(%w: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>, %lr: tensor<f32>) -> tensor<?xf32> attributes {zero.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g, %lr : tensor<?xf32>, tensor<f32>) outs(%w : tensor<?xf32>) {
  ^bb0(%a: f32, %l: f32, %o: f32):
    %u = math.fma %l, %a, %o : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A cheap intermediate is recomputed instead of being stored.

// CHECK-LABEL: func.func private @centre
// CHECK: scf.for
// CHECK:   arith.subf
// CHECK:   arith.addf %{{.*}} fastmath<reassoc>
// CHECK-NOT: tensor.insert
// CHECK: scf.for
// CHECK:   arith.subf
// CHECK:   arith.divf
func.func private @centre(%x: tensor<16xf32>, %m: tensor<f32>) -> tensor<16xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<f32>
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %d = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%x, %m : tensor<16xf32>, tensor<f32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>], iterator_types = ["reduction"]} ins(%d : tensor<16xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%d, %sum : tensor<16xf32>, tensor<f32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// A dimension of size one that is inserted and removed does not separate the loops.

// CHECK-LABEL: func.func private @keepdims
// CHECK: scf.for
// CHECK:   scf.for {{.*}} -> (f32)
// CHECK:   scf.for
// CHECK:     arith.subf
// CHECK-NOT: tensor.expand_shape
// CHECK-NOT: scf.for
func.func private @keepdims(%x: tensor<8x32xf32>) -> tensor<8x32xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e8 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x32xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %column = tensor.expand_shape %sum [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, 0)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%x, %column : tensor<8x32xf32>, tensor<8x1xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// A cheap node that two loops recompute, and that a body reads at any position: the first loop that
// computes it stores it, the second one does not.

// CHECK-LABEL: func.func private @computed_twice_and_stored
// CHECK: scf.for %[[I:.*]] =
// CHECK:   scf.for
// CHECK:     arith.maximumf
// CHECK:     tensor.insert {{.*}} : tensor<2x3xf32>
// CHECK:   scf.for
// CHECK:     math.exp
// CHECK-NOT: tensor.insert {{.*}} : tensor<2x3xf32>
// CHECK: tensor.extract {{.*}} : tensor<2x3xf32>
func.func private @computed_twice_and_stored(%x: tensor<2x3xf32>, %at: tensor<2xindex>) -> tensor<2xf32> attributes {zero.kernel} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  %max = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<2x3xf32>) outs(%f0 : tensor<2xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.maximumf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#i, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%y, %max : tensor<2x3xf32>, tensor<2xf32>) outs(%f1 : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %d = arith.subf %a, %b : f32
    %q = math.exp %d : f32
    %s = arith.addf %acc, %q fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %picked = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%at, %sum : tensor<2xindex>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) {
  ^bb0(%j: index, %a: f32, %o: f32):
    %row = linalg.index 0 : index
    %b = tensor.extract %y[%row, %j] : tensor<2x3xf32>
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %picked : tensor<2xf32>
}

// A row and a bias of 16 bits are extended at their uses: one loop over rows, and only the result
// is stored.

// CHECK-LABEL: func.func private @narrow
// CHECK-SAME: %[[X:.*]]: tensor<8x32xbf16>, %[[B:.*]]: tensor<32xbf16>
// CHECK: scf.for
// CHECK:   %[[SUM:.*]] = scf.for
// CHECK:     %[[V:.*]] = tensor.extract %[[X]]
// CHECK:     arith.extf %[[V]] : bf16 to f32
// CHECK:   scf.for {{.*}} -> (tensor<8x32xbf16>)
// CHECK:     %[[W:.*]] = tensor.extract %[[B]]
// CHECK:     arith.extf %[[W]] : bf16 to f32
// CHECK:     %[[R:.*]] = arith.truncf
// CHECK:     tensor.insert %[[R]]
// CHECK-NOT: scf.for
// CHECK: return
func.func private @narrow(%x: tensor<8x32xbf16>, %b: tensor<32xbf16>) -> tensor<8x32xbf16> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e8 = tensor.empty() : tensor<8xf32>
  %e32 = tensor.empty() : tensor<32xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %en = tensor.empty() : tensor<8x32xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %wide = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xbf16>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  %sum = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]} ins(%wide : tensor<8x32xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %bias = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%b : tensor<32xbf16>) outs(%e32 : tensor<32xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %y = linalg.generic {indexing_maps = [#i, #r, #c, #i], iterator_types = ["parallel", "parallel"]} ins(%wide, %sum, %bias : tensor<8x32xf32>, tensor<8xf32>, tensor<32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%a: f32, %m: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %s = arith.mulf %d, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  %n = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8x32xf32>) outs(%en : tensor<8x32xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %s = arith.truncf %a : f32 to bf16
    linalg.yield %s : bf16
  } -> tensor<8x32xbf16>
  return %n : tensor<8x32xbf16>
}

// Sums of channels over images and pixels: while the loop over pixels adds to a channel, its sum is
// a scalar.

// CHECK-LABEL: func.func private @channels
// CHECK: scf.for %{{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}) -> (tensor<3xf32>) {
// CHECK:   scf.for %[[C:.*]] = {{.*}} iter_args(%[[OLD:.*]] = %[[SUMS]]) -> (tensor<3xf32>) {
// CHECK:     %[[START:.*]] = tensor.extract %[[OLD]][%[[C]]]
// CHECK:     %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]]) -> (f32) {
// CHECK:     tensor.insert %[[SUM]] into %[[OLD]][%[[C]]]
func.func private @channels(%x: tensor<4x3x49xf32>) -> tensor<3xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(n, c, i) -> (n, c, i)>, affine_map<(n, c, i) -> (c)>], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<4x3x49xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %sum : tensor<3xf32>
}
