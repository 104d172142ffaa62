// RUN: zero-opt %s --zero-fuse-kernels --zero-bufferize-kernels | FileCheck %s

// The iterations that threads may divide, and the kernels without any.

#id1 = affine_map<(a) -> (a)>
#id2 = affine_map<(a, b) -> (a, b)>
#id3 = affine_map<(a, b, c) -> (a, b, c)>
#middle = affine_map<(a, b, c) -> (b)>
#columns = affine_map<(a, b) -> (b)>
#rows = affine_map<(a, b) -> (a)>

// The outermost loop that is long enough; two batches would be too few.

// CHECK-LABEL: func.func private @batches(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: zero.extent = 64 : i64
// CHECK: scf.for %{{.*}} = %c0 to %c2 step
// CHECK-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c32 step
func.func private @batches(%x: tensor<2x64x32xf32>, %r: tensor<64xf32>) -> tensor<2x64x32xf32> attributes {zero.kernel} {
  %e = tensor.empty() : tensor<2x64x32xf32>
  %y = linalg.generic {indexing_maps = [#id3, #middle, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %r : tensor<2x64x32xf32>, tensor<64xf32>) outs(%e : tensor<2x64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x64x32xf32>
  return %y : tensor<2x64x32xf32>
}

// The iterations of a dynamic dimension are the length of the launch.

// CHECK-LABEL: func.func private @update(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: zero.extent = 1 : i64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
func.func private @update(%w: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  %r = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%g : tensor<?xf32>) outs(%w : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.subf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A sum over rows and its initial zeros are both divided by columns.

// CHECK-LABEL: func.func private @sum_of_rows(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: zero.extent = 64 : i64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK: scf.for %{{.*}} = %c0 to %c128 step
// CHECK-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
func.func private @sum_of_rows(%x: tensor<128x64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id2, #columns], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<128x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// The temporary of a row is on the stack of the thread that computes the row.

// CHECK-LABEL: func.func private @reversed_rows(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK-SAME: zero.extent = 128 : i64
// CHECK: memref.alloca() {{.*}} : memref<64xf32>
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
func.func private @reversed_rows(%x: tensor<128x64xf32>) -> tensor<128x64xf32> attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %e = tensor.empty() : tensor<128x64xf32>
  %y = scf.for %i = %c0 to %c128 step %c1 iter_args(%out = %e) -> tensor<128x64xf32> {
    %t = tensor.empty() : tensor<64xf32>
    %exp = scf.for %j = %c0 to %c64 step %c1 iter_args(%row = %t) -> tensor<64xf32> {
      %v = tensor.extract %x[%i, %j] : tensor<128x64xf32>
      %w = math.exp %v : f32
      %next = tensor.insert %w into %row[%j] : tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    %done = scf.for %j = %c0 to %c64 step %c1 iter_args(%o = %out) -> tensor<128x64xf32> {
      %k = arith.subi %c63, %j : index
      %v = tensor.extract %exp[%k] : tensor<64xf32>
      %next = tensor.insert %v into %o[%i, %j] : tensor<128x64xf32>
      scf.yield %next : tensor<128x64xf32>
    }
    scf.yield %done : tensor<128x64xf32>
  }
  return %y : tensor<128x64xf32>
}

// One thread computes a sum over all elements, because partial sums would change the bits.

// CHECK-LABEL: func.func private @sum(
// CHECK-NOT: zero.extent
func.func private @sum(%x: tensor<128x64xf32>) -> tensor<f32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id2, affine_map<(a, b) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<128x64xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// Elements that depend on previous elements.

// CHECK-LABEL: func.func private @running_sum(
// CHECK-NOT: zero.extent
func.func private @running_sum(%x: tensor<128xf32> {zero.inplace = 0 : i64}) -> tensor<128xf32> attributes {zero.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c127 = arith.constant 127 : index
  %y = scf.for %i = %c0 to %c127 step %c1 iter_args(%out = %x) -> tensor<128xf32> {
    %n = arith.addi %i, %c1 : index
    %a = tensor.extract %out[%i] : tensor<128xf32>
    %b = tensor.extract %out[%n] : tensor<128xf32>
    %s = arith.addf %a, %b : f32
    %next = tensor.insert %s into %out[%n] : tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  return %y : tensor<128xf32>
}

// By columns, each thread would recompute the sum of every row.

// CHECK-LABEL: func.func private @sum_of_centred_rows(
// CHECK-NOT: zero.extent
func.func private @sum_of_centred_rows(%x: tensor<128x64xf32>) -> tensor<64xf32> attributes {zero.kernel} {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<128xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<128xf32>) -> tensor<128xf32>
  %sums = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<128x64xf32>) outs(%fr : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id2, #rows, #columns], iterator_types = ["reduction", "parallel"]} ins(%x, %sums : tensor<128x64xf32>, tensor<128xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %s = arith.addf %o, %d : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
