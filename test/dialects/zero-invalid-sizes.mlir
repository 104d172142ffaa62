// RUN: zero-opt %s --split-input-file --verify-diagnostics

// The checks of types and sizes in the verifiers of the ops of a partitioned step.

module attributes {zero.ranks = 4 : i64} {
  func.func @gather(%x: tensor<64xf32>) {
    // expected-error @+1 {{expected slices of 4 ranks, 256 elements, got 'tensor<128xf32>'}}
    %y = zero.all_gather %x : (tensor<64xf32>) -> tensor<128xf32>
    return
  }
}

// -----

func.func @gather_types(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected one element type, got 'tensor<128xbf16>' and 'tensor<64xf32>'}}
  %y = zero.all_gather %x : (tensor<64xf32>) -> tensor<128xbf16>
  return
}

// -----

func.func @gather_into(%x: tensor<64xf32>, %room: tensor<64xf32>) {
  // expected-error @+1 {{expected a destination of type 'tensor<128xf32>', got 'tensor<64xf32>'}}
  %y = zero.all_gather %x into %room : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  return
}

// -----

func.func @group(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected a group of at least one axis}}
  %y = zero.all_gather %x over <[]> : (tensor<64xf32>) -> tensor<128xf32>
  return
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @scatter(%x: tensor<64xf32>) {
    // expected-error @+1 {{expected slices of 2 ranks, 32 elements, got 'tensor<64xf32>'}}
    %y = zero.reduce_scatter %x : (tensor<64xf32>) -> tensor<16xf32>
    return
  }
}

// -----

func.func @scatter_unequal(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected equal slices of 'tensor<64xf32>', got 'tensor<24xf32>'}}
  %y = zero.reduce_scatter %x : (tensor<64xf32>) -> tensor<24xf32>
  return
}

// -----

func.func @narrow_sums(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected sums in a float type no narrower than 'f32', got 'bf16'}}
  %y = zero.reduce_scatter %x in bf16 : (tensor<64xf32>) -> tensor<32xf32>
  return
}

// -----

func.func @mean(%x: tensor<2xi64>) {
  // expected-error @+1 {{expected the mean of floats, got 'i64'}}
  %y = zero.all_reduce %x mean : tensor<2xi64>
  return
}

// -----

module attributes {zero.ranks = 4 : i64} {
  func.func @own(%x: tensor<64xf32>) {
    // expected-error @+1 {{expected slices of 4 ranks, 128 elements, got 'tensor<64xf32>'}}
    %y = zero.own_slice %x : (tensor<64xf32>) -> tensor<32xf32>
    return
  }
}

// -----

func.func @member(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected a part of the 64 elements of the bucket, got 16 from 56 on}}
  %y = zero.member %x at 56 : (tensor<64xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @member_type(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected an element type of 'tensor<64xf32>', got 'tensor<4xf16>'}}
  %y = zero.member %x at 0 : (tensor<64xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @bucket_starts(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected a start for each of 1 members, got 2}}
  %y = zero.bucket(%x) at [0, 8] : (tensor<8xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @bucket_overlap(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected disjoint members in ascending order in 64 elements, got one at elements 4 to 12}}
  %y = zero.bucket(%x, %x) at [0, 4] : (tensor<8xf32>, tensor<8xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @bucket_end(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected disjoint members in ascending order in 64 elements, got one at elements 60 to 68}}
  %y = zero.bucket(%x) at [60] : (tensor<8xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @bucket_type(%x: tensor<8xf16>) {
  // expected-error @+1 {{expected an element type of 'tensor<64xf32>', got 'tensor<8xf16>'}}
  %y = zero.bucket(%x) at [0] : (tensor<8xf16>) -> tensor<64xf32>
  return
}

// -----

func.func @check_pair(%x: tensor<3xi64>) {
  // expected-error @+1 {{expected the smallest and the largest value, got 'tensor<3xi64>'}}
  zero.check %x in [0, 5] "label" : tensor<3xi64>
  return
}

// -----

func.func @check_range(%x: tensor<2xi64>) {
  // expected-error @+1 {{expected a range, got [5, 0]}}
  zero.check %x in [5, 0] "label" : tensor<2xi64>
  return
}

// -----

// expected-error @+1 {{expected at least one shard, got 0}}
zero.buffer parameter @b : tensor<64xf32> shards 0

// -----

module attributes {zero.ranks = 4 : i64} {
  // expected-error @+1 {{expected 1 shard, or one on each of 4 ranks, got 2}}
  zero.buffer parameter @b : tensor<64xf32> shards 2
}

// -----

module attributes {zero.mesh = #zero.mesh<node = 2, local = 4>, zero.ranks = 8 : i64} {
  zero.buffer parameter @a : tensor<64xf32> shards 4
  // expected-error @+1 {{expected 1 shard, or one on each of 8 ranks or of those of a node, got 2}}
  zero.buffer parameter @b : tensor<64xf32> shards 2
}

// -----

// expected-error @+1 {{expected initial values from a file or one value for all, got both}}
zero.parameter @w : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>, splat = 0.0}

// -----

// expected-error @+1 {{expected random initial values or given ones, got both}}
zero.parameter @w : tensor<4xf32> {random = #zero.random<normal, 0.0 : f64, 1.0 : f64, 7>, splat = 0.0}

// -----

// expected-error @+1 {{expected floats for random initial values, got 'tensor<4xi64>'}}
zero.state constant @w : tensor<4xi64> {random = #zero.random<uniform, 0.0 : f64, 1.0 : f64, 7>}

// -----

// expected-error @+1 {{expected no gradient of a parameter that is frozen}}
zero.parameter @w : tensor<4xf32> {frozen, gradient = #zero.placement<>}

// -----

// expected-error @+1 {{expected both home and start, or none of them}}
zero.state constant @c : tensor<4xf32> {start = 0 : i64}

// -----

// expected-error @+1 {{expected a start of at least 0 in its buffer, got -4}}
zero.state constant @c : tensor<4xf32> {home = @b, start = -4 : i64}
zero.buffer constant @b : tensor<64xf32> shards 1

// -----

zero.parameter @w : tensor<4xf32>
func.func @gradient(%g: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 kernels that accumulate, got 1}}
  %s = zero.gradient @w, %g accumulate [@first] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

zero.parameter @w : tensor<4xf32>
func.func @gradient(%g: tensor<4xf32>) {
  // expected-error @+1 {{expected 3 kernels that accumulate, got 2}}
  %s = zero.gradient @w, %g accumulate [@first, @later] : tensor<4xf32> -> tensor<4xbf16>
  return
}

// -----

func.func @micro_mean(%x: tensor<f32>) {
  // expected-error @+1 {{expected 2 kernels that accumulate, got 3}}
  %s = zero.micro_mean %x accumulate [@a, @b, @c] : tensor<f32>
  return
}

// -----

func.func @square_sum(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 or 3 kernels that sum squares, got 1}}
  %s = zero.square_sum %x by [@blocks] : (tensor<4xf32>) -> tensor<f64>
  return
}

// -----

// expected-error @+1 {{expected layers in order, got 3 to 1}}
func.func private @runs() attributes {zero.runs = [#zero.run<3 to 1>]}

// -----

// expected-error @+1 {{expected pairs of layers, got 1 layers}}
func.func private @runs() attributes {zero.runs = [#zero.run<1 to 3 after 0>]}

// -----

// expected-error @+1 {{expected layers up to 3 in order, got 4 to 6}}
func.func private @runs() attributes {zero.runs = [#zero.run<1 to 3 after 4, 6>]}

// -----

func.func @epilogue(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected no selection of micro-batches in the epilogue, which runs once, got 'first'}}
  %y = arith.negf %x {zero.schedule = #zero.schedule<epilogue, first>} : tensor<4xf32>
  return
}

// -----

module attributes {zero.ranks = 2 : i64} {
  func.func @root(%x: tensor<64xf32>) {
    // expected-error @+1 {{expected a rank as the root, one of 2, got 2}}
    %y = zero.broadcast %x from 2 : (tensor<64xf32>) -> tensor<64xf32>
    return
  }
}

// -----

// Before partition the number of ranks is unknown.
func.func @negative_root(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected a rank as the root, got -1}}
  %y = zero.broadcast %x from -1 : (tensor<64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<64xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %y = zero.broadcast %x from 0 : (tensor<64xf32>) -> tensor<128xf32>
  return
}

// -----

func.func @broadcast_into(%x: tensor<64xf32>, %room: tensor<32xf32>) {
  // expected-error @+1 {{expected a destination of type 'tensor<64xf32>', got 'tensor<32xf32>'}}
  %y = zero.broadcast %x from 0 into %room : (tensor<64xf32>, tensor<32xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @broadcast_group(%x: tensor<64xf32>) {
  // expected-error @+1 {{expected a group of at least one axis}}
  %y = zero.broadcast %x from 0 over <[]> : (tensor<64xf32>) -> tensor<64xf32>
  return
}

// -----

zero.parameter @w : tensor<64x8xf32> {splat = 0.5}
// expected-error @+1 {{expected 512 codes of 4 bits in bytes, got 'tensor<64x8xi8>'}}
zero.state optimizer @w.m of @w : tensor<64x8xi8> {blocks = #zero.blocks<4, 128, dynamic, @w.m.scale>}
zero.state optimizer @w.m.scale of @w : tensor<4xf32> {splat = 0.0}

// -----

zero.parameter @w : tensor<64x8xf32> {splat = 0.5}
// expected-error @+1 {{expected an f32 scale for each 256 of 512 elements, got 'tensor<4xf32>' as @w.m.scale}}
zero.state optimizer @w.m of @w : tensor<64x8xi8> {blocks = #zero.blocks<8, 256, dynamic, @w.m.scale>}
zero.state optimizer @w.m.scale of @w : tensor<4xf32> {splat = 0.0}

// -----

zero.parameter @w : tensor<64x8xf32> {splat = 0.5}
// expected-error @+1 {{with blocks: expected a parameter, and a state of scales named @w.m.scale}}
zero.state optimizer @w.m of @w : tensor<64x8xi8> {blocks = #zero.blocks<8, 256, dynamic, @w.m.scale>}

// -----

zero.parameter @w : tensor<64x8xf32> {splat = 0.5}
// expected-error @+1 {{expected codes of 8 or 4 bits, got 6}}
zero.state optimizer @w.m of @w : tensor<64x8xi8> {blocks = #zero.blocks<6, 256, dynamic, @w.m.scale>}

// -----

zero.parameter @w : tensor<64x8xf32> {splat = 0.5}
// expected-error @+1 {{expected blocks of an even number of elements, got 3}}
zero.state optimizer @w.m of @w : tensor<64x8xi8> {blocks = #zero.blocks<8, 3, dynamic, @w.m.scale>}
