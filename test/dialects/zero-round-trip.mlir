// Every op and attribute of the zero dialect, through text, generic text and bytecode.
// RUN: zero-opt %s --verify-roundtrip > %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %s --mlir-print-op-generic | zero-opt | diff %t -
// RUN: zero-opt %s --emit-bytecode | zero-opt | diff %t -

// CHECK: zero.parameter @fc1.weight : tensor<8x4xf32> {data = #zero.data<"mlp.onnx", 517, 128>}
zero.parameter @"fc1.weight" : tensor<8x4xf32> {data = #zero.data<"mlp.onnx", 517, 128>}
// CHECK: zero.parameter @w : tensor<8x4xf32> {gradient = #zero.placement<>, home = @bucket0, placement = #zero.placement<shard = [@data], tier = host>, splat = 5.000000e-01 : f64, start = 64 : i64}
zero.parameter @w : tensor<8x4xf32> {gradient = #zero.placement<>, home = @bucket0,
    placement = #zero.placement<shard = [@data], tier = host>, splat = 0.5 : f64, start = 64 : i64}
// CHECK: zero.parameter @frozen : tensor<4xf32> {frozen, placement = #zero.placement<shard = [@data, @tensor]>}
zero.parameter @frozen : tensor<4xf32> {frozen, placement = #zero.placement<shard = [@data, @tensor]>}

// CHECK: zero.parameter @drawn : tensor<4xf32> {random = #zero.random<normal, 0.000000e+00 : f64, 2.000000e-02 : f64, 7>}
zero.parameter @drawn : tensor<4xf32> {random = #zero.random<normal, 0.0 : f64, 0.02 : f64, 7>}

// CHECK: zero.state optimizer @w.m of @w : tensor<8x4xf32> {home = @bucket0.m, placement = #zero.placement<tier = nvme>, splat = 0.000000e+00 : f64, start = 64 : i64}
zero.state optimizer @w.m of @w : tensor<8x4xf32> {home = @bucket0.m,
    placement = #zero.placement<tier = nvme>, splat = 0.0 : f64, start = 64 : i64}
// CHECK: zero.parameter @fc2.weight : tensor<8x4xf32> {data = #zero.data<"mlp.onnx", 645, 128, tensor<4x8xbf16>>}
zero.parameter @"fc2.weight" : tensor<8x4xf32> {data = #zero.data<"mlp.onnx", 645, 128, tensor<4x8xbf16>>}
// CHECK: zero.state optimizer @w.v of @w : tensor<16xi8> {blocks = #zero.blocks<4, 32, linear_positive, @w.v.scale>, splat = 0.000000e+00 : f64}
zero.state optimizer @w.v of @w : tensor<16xi8> {blocks = #zero.blocks<4, 32, linear_positive, @w.v.scale>, splat = 0.0}
zero.state optimizer @w.v.scale of @w : tensor<1xf32> {splat = 0.0}
// CHECK: zero.state constant @mask : tensor<4x4xi1> {data = #zero.data<"a b.onnx", 99, 16>}
zero.state constant @mask : tensor<4x4xi1> {data = #zero.data<"a b.onnx", 99, 16>}
// CHECK: zero.state parameter @ema : tensor<4xf32>
zero.state parameter @ema : tensor<4xf32>

// CHECK: zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
zero.buffer parameter @bucket0 : tensor<64xf32> shards 4
// CHECK: zero.buffer optimizer @bucket0.m : tensor<256xf32> shards 1
zero.buffer optimizer @bucket0.m : tensor<256xf32> shards 1

// CHECK: zero.state optimizer @w.master of @w : tensor<8x4xf32> {data = #zero.data<"a b.onnx", 99, 128, bf16>}
zero.state optimizer @w.master of @w : tensor<8x4xf32> {data = #zero.data<"a b.onnx", 99, 128, bf16>}
// CHECK: zero.parameter @half : tensor<8x4xbf16>
zero.parameter @half : tensor<8x4xbf16>
// CHECK: zero.buffer accumulator @bucket1.gradient : tensor<64xf32> shards 4
zero.buffer accumulator @bucket1.gradient : tensor<64xf32> shards 4

// CHECK-LABEL: func.func @before_partition
func.func @before_partition(%dw: tensor<8x4xf32>, %lr: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[W:.*]] = zero.read @w : tensor<8x4xf32>
  %w = zero.read @w : tensor<8x4xf32>
  // CHECK: %[[G:.*]] = zero.gradient @w, %{{.*}} : tensor<8x4xf32> -> tensor<8x4xf32>
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: zero.update @w [@w.m], %[[G]] by @sgd(%{{.*}}) {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>, (tensor<f32>)
  zero.update @w [@w.m], %g by @sgd(%lr) {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>, (tensor<f32>)
  // CHECK: zero.update @w [], %[[G]] by @plain() : tensor<8x4xf32>
  zero.update @w [], %g by @plain() : tensor<8x4xf32>
  // CHECK: %[[M:.*]] = zero.rank_mean %{{.*}} : tensor<f32>
  %m = zero.rank_mean %lr : tensor<f32>
  // CHECK: %[[S:.*]] = zero.rank_share : tensor<f32>
  %s = zero.rank_share : tensor<f32>
  return %m, %s : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @micro_batches
func.func @micro_batches(%dw: tensor<8x4xbf16>, %labels: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: zero.gradient @half, %{{.*}} accumulate [@first, @later] : tensor<8x4xbf16> -> tensor<8x4xf32>
  %g = zero.gradient @half, %dw accumulate [@first, @later] : tensor<8x4xbf16> -> tensor<8x4xf32>
  // CHECK: zero.gradient @half, %{{.*}} accumulate [@first, @later, @key] : tensor<8x4xbf16> -> tensor<8x4xbf16>
  %rounded = zero.gradient @half, %dw accumulate [@first, @later, @key] : tensor<8x4xbf16> -> tensor<8x4xbf16>
  // CHECK: %[[N:.*]] = zero.micro_mean %{{.*}} accumulate [@first, @later] {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  %n = zero.micro_mean %labels accumulate [@first, @later] {zero.schedule = #zero.schedule<prologue>} : tensor<f32>
  // CHECK: zero.micro_mean %[[N]] : tensor<f32>
  %m = zero.micro_mean %n : tensor<f32>
  // CHECK: zero.rank_mean %{{.*}} {zero.schedule = #zero.schedule<micro_batch, last>} : tensor<f32>
  %r = zero.rank_mean %n {zero.schedule = #zero.schedule<micro_batch, last>} : tensor<f32>
  return %m, %r : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @conditions
func.func @conditions(%dw: tensor<8x4xf32>, %lr: tensor<f32>, %ok: tensor<i1>) {
  %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: zero.square_sum %{{.*}} by [@blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x4xf32>) -> tensor<f64>
  %sum = zero.square_sum %g by [@blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<8x4xf32>) -> tensor<f64>
  // CHECK: zero.update @w [@w.m], %{{.*}} by @sgd(%{{.*}}) if %arg2 {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>, (tensor<f32>)
  zero.update @w [@w.m], %g by @sgd(%lr) if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>, (tensor<f32>)
  // CHECK: zero.update @w [], %{{.*}} by @plain() if %arg2 : tensor<8x4xf32>
  zero.update @w [], %g by @plain() if %ok : tensor<8x4xf32>
  // CHECK: zero.update @w [@w.m], %{{.*}} by @sgd layerwise [@blocks, @total, @total](%{{.*}}) if %arg2 : tensor<8x4xf32>, (tensor<f32>)
  zero.update @w [@w.m], %g by @sgd layerwise [@blocks, @total, @total](%lr) if %ok : tensor<8x4xf32>, (tensor<f32>)
  // CHECK: zero.launch @plain(%{{.*}}, %{{.*}}) if %arg2 {zero.name = "n"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %x = tensor.empty() : tensor<8xf32>
  %y = zero.launch @plain(%x, %x) if %ok {zero.name = "n"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: zero.launch @nothing() if %arg2 : () -> ()
  zero.launch @nothing() if %ok : () -> ()
  // CHECK: zero.write @w.m, %{{.*}} if %arg2 {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>
  zero.write @w.m, %g if %ok {zero.schedule = #zero.schedule<epilogue>} : tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @kernels
func.func @kernels(%x: tensor<64xf32>, %lr: tensor<f32>, %ids: tensor<2xi64>) -> tensor<64xf32> {
  // CHECK: %[[Y:.*]]:2 = zero.launch @sgd(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {zero.name = "fc1"} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>)
  %y:2 = zero.launch @sgd(%x, %x, %x, %lr) {zero.name = "fc1"}
      : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>)
  // CHECK: zero.launch @nothing() : () -> ()
  zero.launch @nothing() : () -> ()
  // CHECK: zero.check %{{.*}} in[-3, 7] "token ids" : tensor<2xi64>
  zero.check %ids in [-3, 7] "token ids" : tensor<2xi64>
  return %y#0 : tensor<64xf32>
}

// CHECK-LABEL: func.func @after_partition
func.func @after_partition(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %h: tensor<8x4xbf16>) {
  // CHECK: %[[SHARD:.*]] = zero.read @bucket0
  %shard = zero.read @bucket0 : tensor<64xf32>
  // CHECK: %[[FULL:.*]] = zero.all_gather %[[SHARD]] {zero.name = "bucket0"} : (tensor<64xf32>) -> tensor<256xf32>
  %full = zero.all_gather %shard {zero.name = "bucket0"} : (tensor<64xf32>) -> tensor<256xf32>
  // CHECK: zero.member %[[FULL]] at 64 : (tensor<256xf32>) -> tensor<8x4xf32>
  %w = zero.member %full at 64 : (tensor<256xf32>) -> tensor<8x4xf32>
  // CHECK: %[[GRADS:.*]] = zero.bucket(%{{.*}}, %{{.*}}) at [0, 64] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<256xf32>
  %grads = zero.bucket(%a, %b) at [0, 64] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<256xf32>
  // CHECK: %[[SUM:.*]] = zero.reduce_scatter %[[GRADS]] : (tensor<256xf32>) -> tensor<64xf32>
  %sum = zero.reduce_scatter %grads : (tensor<256xf32>) -> tensor<64xf32>
  // CHECK: zero.reduce_scatter %[[GRADS]] in_place : (tensor<256xf32>) -> tensor<64xf32>
  %own = zero.reduce_scatter %grads in_place : (tensor<256xf32>) -> tensor<64xf32>
  // CHECK: zero.all_reduce %[[GRADS]] : tensor<256xf32>
  %total = zero.all_reduce %grads : tensor<256xf32>
  // CHECK: zero.all_reduce %[[GRADS]] mean : tensor<256xf32>
  %mean = zero.all_reduce %grads mean : tensor<256xf32>
  // CHECK: zero.own_slice %[[FULL]] : (tensor<256xf32>) -> tensor<64xf32>
  %slice = zero.own_slice %full : (tensor<256xf32>) -> tensor<64xf32>
  // CHECK: zero.all_reduce %[[SHARD]] over <[@data]> : tensor<64xf32>
  %group = zero.all_reduce %shard over <[@data]> : tensor<64xf32>
  // CHECK: zero.all_gather %[[SUM]] into %[[FULL]] : (tensor<64xf32>, tensor<256xf32>) -> tensor<256xf32>
  %again = zero.all_gather %sum into %full : (tensor<64xf32>, tensor<256xf32>) -> tensor<256xf32>
  // CHECK: zero.all_gather %[[SUM]] control {zero.name = "norm"} : (tensor<64xf32>) -> tensor<256xf32>
  %sums = zero.all_gather %sum control {zero.name = "norm"} : (tensor<64xf32>) -> tensor<256xf32>
  // CHECK: zero.all_gather %[[SUM]] into %[[FULL]] control : (tensor<64xf32>, tensor<256xf32>) -> tensor<256xf32>
  %both = zero.all_gather %sum into %full control : (tensor<64xf32>, tensor<256xf32>) -> tensor<256xf32>
  // Sums of 16 bits in f32, rounded once.
  // CHECK: %[[HALF:.*]] = zero.bucket(%{{.*}}) at [0] : (tensor<8x4xbf16>) -> tensor<256xbf16>
  %half = zero.bucket(%h) at [0] : (tensor<8x4xbf16>) -> tensor<256xbf16>
  // CHECK: zero.reduce_scatter %[[HALF]] in f32 {zero.name = "b"} : (tensor<256xbf16>) -> tensor<64xbf16>
  %wide = zero.reduce_scatter %half in f32 {zero.name = "b"} : (tensor<256xbf16>) -> tensor<64xbf16>
  // CHECK: zero.reduce_scatter %[[HALF]] in_place in f32 : (tensor<256xbf16>) -> tensor<64xbf16>
  %widely = zero.reduce_scatter %half in_place in f32 : (tensor<256xbf16>) -> tensor<64xbf16>
  // CHECK: zero.all_reduce %[[HALF]] in f32 : tensor<256xbf16>
  %all = zero.all_reduce %half in f32 : tensor<256xbf16>
  // CHECK: zero.all_reduce %[[HALF]] mean in f32 : tensor<256xbf16>
  %mean16 = zero.all_reduce %half mean in f32 : tensor<256xbf16>
  // CHECK: zero.broadcast %[[SHARD]] from 0 : (tensor<64xf32>) -> tensor<64xf32>
  %first = zero.broadcast %shard from 0 : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.broadcast %[[SUM]] from 2 into %[[SHARD]] control over <[@data]> {zero.name = "c"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %second = zero.broadcast %sum from 2 into %shard control over <[@data]> {zero.name = "c"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: zero.write @bucket0, %[[SUM]] : tensor<64xf32>
  zero.write @bucket0, %sum : tensor<64xf32>
  return
}

func.func private @sgd(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %m: tensor<?xf32> {zero.inplace = 1 : i64},
                       %g: tensor<?xf32>, %lr: tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {zero.kernel} {
  return %p, %m : tensor<?xf32>, tensor<?xf32>
}
func.func private @plain(%p: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  return %p : tensor<?xf32>
}
func.func private @nothing() attributes {zero.kernel} {
  return
}
func.func private @first(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @later(%sum: tensor<?xf32> {zero.inplace = 0 : i64}, %x: tensor<?xbf16>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @blocks(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}

// CHECK: zero.runs = [#zero.run<0 to 0>, #zero.run<7 to 9 after 0, 0, 4, 6>]
func.func private @runs() attributes {zero.runs = [#zero.run<0 to 0>, #zero.run<7 to 9 after 0, 0, 4, 6>]}

// CHECK: zero.parameter @w.part1 : tensor<8x3xf32> {zero.part_of = #zero.part<of = "w", axis = 1, begin = 3, extent = 6>}
zero.parameter @w.part1 : tensor<8x3xf32> {zero.part_of = #zero.part<of = "w", axis = 1, begin = 3, extent = 6>}
