// The sum of squares of gradients (zero.square_sum), for the global norm, on one rank: no block
// sums are exchanged.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

// CHECK-NOT: zero.all_gather
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.all_gather
zero.parameter @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>
zero.parameter @u : tensor<7x5xf32>
zero.state optimizer @u.m of @u : tensor<7x5xf32>

func.func @step(%dw: tensor<100xf32>, %dv: tensor<8x8xf32>, %du: tensor<7x5xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}) {
  %gw = zero.gradient @w, %dw : tensor<100xf32> -> tensor<100xf32>
  %gv = zero.gradient @v, %dv : tensor<8x8xf32> -> tensor<8x8xf32>
  %gu = zero.gradient @u, %du : tensor<7x5xf32> -> tensor<7x5xf32>
  %sw = zero.square_sum %gw by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<100xf32>) -> tensor<f64>
  %sv = zero.square_sum %gv by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x8xf32>) -> tensor<f64>
  %su = zero.square_sum %gu by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<7x5xf32>) -> tensor<f64>
  %wv = arith.addf %sw, %sv {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  %sum = arith.addf %wv, %su {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  %ok = arith.cmpf olt, %sum, %sum {zero.schedule = #zero.schedule<epilogue>} : tensor<f64>
  zero.update @w [@w.m], %gw by @update() if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>
  zero.update @v [@v.m], %gv by @update() if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<8x8xf32>
  zero.update @u [@u.m], %gu by @update() if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<7x5xf32>
  return %l, %sum : tensor<f32>, tensor<f64>
}
func.func private @square_blocks(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
