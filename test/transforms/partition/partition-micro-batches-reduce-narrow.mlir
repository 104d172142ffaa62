// Without reduce-in-f32 no collective sums 16-bit gradients in f32: where every micro-batch
// reduces its bf16 gradients they are summed in bf16. The sum over micro-batches that stage 0
// reduces once is f32 anyway.
// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step="reduce-each=true reduce-in-f32=false" | FileCheck %s
// RUN: zero-opt %s --zero-place-state="stage=2 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-in-f32=false | FileCheck %s
// RUN: zero-opt %s --zero-place-state="stage=0 ranks=4" --zero-assign-buckets --zero-partition-step=reduce-in-f32=false | FileCheck %s

module attributes {zero.micro_batches = 4 : i64} {
zero.parameter @w : tensor<100xbf16>
zero.state optimizer @w.master of @w : tensor<100xf32>
zero.parameter @v : tensor<60xbf16>
zero.state optimizer @v.master of @v : tensor<60xf32>

// CHECK-LABEL: func.func @step
// CHECK-NOT: in f32
func.func @step(%dw: tensor<100xbf16>, %dv: tensor<60xbf16>, %labels: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f32> {zero.binding = "local_loss"}, tensor<bf16> {zero.binding = "share"}) {
  %c = math.absf %labels {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %own = zero.micro_mean %c accumulate [@mean_first, @mean_later] {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %all = zero.rank_mean %own {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %w = zero.read @w : tensor<100xbf16>
  %v = zero.read @v : tensor<60xbf16>
  %share = zero.rank_share : tensor<bf16>
  %loss = arith.divf %labels, %all : tensor<f32>
  %ldw = arith.mulf %dw, %w : tensor<100xbf16>
  %ldv = arith.mulf %dv, %v : tensor<60xbf16>
  %gw = zero.gradient @w, %ldw accumulate [@first, @later] : tensor<100xbf16> -> tensor<100xf32>
  %gv = zero.gradient @v, %ldv accumulate [@first, @later] : tensor<60xbf16> -> tensor<60xf32>
  %local = zero.micro_mean %loss accumulate [@mean_first, @mean_later] : tensor<f32>
  %mean = zero.rank_mean %local : tensor<f32>
  zero.update @w [@w.master], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<100xf32>
  zero.update @v [@v.master], %gv by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<60xf32>
  return %mean, %local, %share : tensor<f32>, tensor<f32>, tensor<bf16>
}

func.func private @first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @mean_later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @update(%p: tensor<?xbf16> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                          %g: tensor<?xf32>) -> (tensor<?xbf16>, tensor<?xf32>) attributes {zero.kernel}
}
