// RUN: zero-opt %s --split-input-file --verify-diagnostics

// Attributes of the dialect on ops of other dialects form a closed list.

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error @+1 {{has unknown attribute zero.prolog; dialects/Zero/DiscardableAttrs.cpp lists those of the dialect}}
  %y = arith.negf %x {zero.prolog} : tensor<4xf32>
  return
}

// -----

func.func @misplaced(%x: tensor<4xf32>) {
  // expected-error @+1 {{has attribute zero.ranks, which belongs to another op}}
  %y = arith.negf %x {zero.ranks = 2 : i64} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{has attribute zero.schedule, which belongs to another op}}
module attributes {zero.schedule = #zero.schedule<epilogue>} {
}

// -----

// expected-error @+1 {{expected zero.ranks = an integer, got "two"}}
module attributes {zero.ranks = "two"} {
}

// -----

func.func @schedule(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected zero.schedule = #zero.schedule<...>, got "epilogue"}}
  %y = arith.negf %x {zero.schedule = "epilogue"} : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{expected zero.inplace = the number of a result, got unit}}
func.func private @argument(%x: tensor<4xf32> {zero.inplace})

// -----

// expected-error @+1 {{has unknown attribute zero.label}}
func.func private @result(%x: tensor<4xf32>) -> (tensor<4xf32> {zero.label = "y"})

// -----

// Calls of a library.

// expected-error @+2 {{expected #zero.matmul, #zero.convolution or #zero.attention, got 1 : i64}}
func.func private @other_call() attributes {
  zero.library = #zero.library<1 : i64>}

// -----

// expected-error @+2 {{expected zero.call = #zero.convolution<...> or #zero.attention<...>, got {kind = "convolution"}}}
module {
func.func private @untyped() attributes {zero.call = {kind = "convolution"}}
}

// -----

func.func private @factors() attributes {
  // expected-error @+1 {{expected both factors stored in 'bf16', got [bf16, f32, f32]}}
  zero.library = #zero.library<#zero.matmul<m = 2, n = 3, k = 4, batch = [], a_strides = [4, 1], b_strides = [3, 1], c_strides = [3, 1], alpha = 1.0 : f32>, stored = [bf16, f32, f32], operands = bf16>}

// -----

func.func private @operands() attributes {
  // expected-error @+1 {{expected operands in f32, f16 or bf16, got 'f64'}}
  zero.library = #zero.library<#zero.matmul<m = 2, n = 3, k = 4, batch = [], a_strides = [4, 1], b_strides = [3, 1], c_strides = [3, 1], alpha = 1.0 : f32>, stored = [f64, f64, f32], operands = f64>}

// -----

// No operator offers a product: zero-match-library finds them.

// expected-error @+2 {{expected zero.call = #zero.convolution<...> or #zero.attention<...>, got #zero.matmul<}}
module {
func.func private @product() attributes {
  zero.call = #zero.matmul<m = 2, n = 3, k = 4, batch = [], a_strides = [4, 1], b_strides = [3, 1], c_strides = [3, 1], alpha = 1.0 : f32>}
}

// -----

// expected-error @+2 {{expected 3 numbers in b_strides, got 2}}
func.func private @strides() attributes {
  zero.call = #zero.matmul<m = 2, n = 3, k = 4, batch = [5], a_strides = [8, 4, 1], b_strides = [3, 1], c_strides = [6, 3, 1], alpha = 1.0 : f32>}

// -----

// expected-error @+2 {{expected 1 numbers in kernel, got 2}}
func.func private @windows() attributes {
  zero.call = #zero.convolution<direction = forward, batch = 1, groups = 1, in_channels = 1, out_channels = 1, input = [4], output = [4], kernel = [1, 1], strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]>}

// -----

// expected-error @+2 {{expected groups that divide 4 heads, got 3}}
func.func private @heads() attributes {
  zero.call = #zero.attention<direction = forward, batch = 1, heads = 4, groups = 3, queries = 2, keys = 2, width = 1, value_width = 1, q_strides = [8, 2, 1], k_strides = [8, 2, 1], v_strides = [8, 2, 1], o_strides = [8, 2, 1], offsets = [], scale = 1.0 : f32, causal_offset = 0, fill = 0.0 : f32, padding = none, padding_strides = [], mask = none, mask_strides = []>}

// -----

// expected-error @+2 {{expected 4 numbers in mask_strides, got 2}}
func.func private @mask() attributes {
  zero.call = #zero.attention<direction = forward, batch = 1, heads = 4, groups = 2, queries = 2, keys = 2, width = 1, value_width = 1, q_strides = [8, 2, 1], k_strides = [8, 2, 1], v_strides = [8, 2, 1], o_strides = [8, 2, 1], offsets = [], scale = 1.0 : f32, causal_offset = 0, fill = 0.0 : f32, padding = none, padding_strides = [], mask = bias, mask_strides = [2, 1]>}

// -----

// A plan that consists only of numbers has no tiers.

// expected-error @+1 {{expected zero.plan = #zero.plan<...>, got {stage = 3 : i64}}}
module attributes {zero.plan = {stage = 3 : i64}} {
}

// -----

// Only state that would be farther away can be nearer.

// expected-error @+1 {{expected state farther than host, of which 4 bytes are there; got parameters on device and optimizer state on host}}
module attributes {zero.plan = #zero.plan<stage = 0, ranks = 1, persist_under = 0, bucket_bytes = 512, params = device, gradients = device, optimizer = host, nearer = <device = 4, host = 4, order = optimizer_params>, activations_host = 0, activations_nvme = 0, node_ranks = 0, interleave = false>} {
}

// -----

func.func private @id(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} { return %x : tensor<4xf32> }
func.func @half_an_update(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected both of updates and gradient, or none}}
  %y = zero.launch @id(%x) {gradient = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @id(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} { return %x : tensor<4xf32> }
func.func @no_such_gradient(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a gradient among 1 inputs, got 1}}
  %y = zero.launch @id(%x) {gradient = 1 : i64, updates = @bucket0} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @id(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} { return %x : tensor<4xf32> }
func.func @no_such_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected in kept numbers of its 1 results, got 1}}
  %y = zero.launch @id(%x) {kept = array<i64: 1>, layer = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @id(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} { return %x : tensor<4xf32> }
func.func @no_layer(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a layer of 0 or more, got -1}}
  %y = zero.launch @id(%x) {layer = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{expected zero.certificate = a list of #zero.arena<...>, got {peak = 512 : i64}}}
module attributes {zero.certificate = {peak = 512 : i64}} {
}

// -----

// expected-error @+1 {{expected an arena of at least 512 bytes, got 256}}
module attributes {zero.certificate = [#zero.arena<tier = device, peak = 256, lower_bound = 512>]} {
}

// -----

// expected-error @+1 {{expected a part of 'w' that begins in [0, 6), got 6}}
zero.parameter @w.part1 : tensor<8x3xf32> {zero.part_of = #zero.part<of = "w", axis = 1, begin = 6, extent = 6>}

// -----

// expected-error @+1 {{expected zero.part_of = #zero.part<...>, got "w"}}
zero.parameter @w.part1 : tensor<8x3xf32> {zero.part_of = "w"}
