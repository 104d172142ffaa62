// A layerwise update (LAMB) on one rank: no block sums are exchanged, and no parameters are
// gathered.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=1" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

// CHECK-NOT: zero.all_gather
// CHECK-LABEL: func.func @step
// CHECK-NOT: zero.all_gather
zero.parameter @w : tensor<100xbf16>
zero.state optimizer @w.master of @w : tensor<100xf32>
zero.state optimizer @w.m of @w : tensor<100xf32>
zero.parameter @v : tensor<8x8xbf16>
zero.state optimizer @v.master of @v : tensor<8x8xf32>
zero.state optimizer @v.m of @v : tensor<8x8xf32>

func.func @step(%dw: tensor<100xbf16>, %dv: tensor<8x8xbf16>, %l: tensor<f32>, %ok: tensor<i1>) -> (tensor<f32> {zero.binding = "loss"}) {
  %gw = zero.gradient @w, %dw : tensor<100xbf16> -> tensor<100xbf16>
  %gv = zero.gradient @v, %dv : tensor<8x8xbf16> -> tensor<8x8xbf16>
  zero.update @w [@w.master, @w.m], %gw by @apply layerwise [@measure, @total, @ratio](%l) if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<100xbf16>, (tensor<f32>)
  zero.update @v [@v.master, @v.m], %gv by @apply layerwise [@measure, @total, @ratio](%l) if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<8x8xbf16>, (tensor<f32>)
  return %l : tensor<f32>
}
func.func private @measure(%p: tensor<?x64xbf16>, %master: tensor<?x64xf32>, %m: tensor<?x64xf32> {zero.inplace = 0 : i64},
                           %g: tensor<?x64xbf16>, %lr: tensor<f32>)
    -> (tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>) attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @ratio(%parameter: tensor<f64>, %direction: tensor<f64>, %blocks: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @apply(%p: tensor<?x64xbf16> {zero.inplace = 0 : i64}, %master: tensor<?x64xf32> {zero.inplace = 1 : i64},
                         %m: tensor<?x64xf32>, %ratios: tensor<?xf32>, %lr: tensor<f32>)
    -> (tensor<?x64xbf16>, tensor<?x64xf32>) attributes {zero.kernel}
