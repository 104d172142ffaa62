// RUN: zero-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a parameter named @w}}
zero.state optimizer @w.m of @w : tensor<4xf32>

// -----

// expected-error @+1 {{attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor of any type values}}
zero.parameter @w : tensor<?xf32>

// -----

// expected-error @+1 {{expected a parameter named @other}}
zero.state optimizer @w.m of @other : tensor<4xf32>
zero.state constant @other : tensor<4xf32>

// -----

func.func @step() {
  // expected-error @+1 {{expected a parameter, state or buffer named @w}}
  %w = zero.read @w : tensor<4xf32>
  return
}

// -----

func.func @read_of_function() {
  // expected-error @+1 {{expected a parameter, state or buffer named @read_of_function}}
  %w = zero.read @read_of_function : tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{declared here}}
zero.parameter @w : tensor<4xf32>
func.func @step() {
  // expected-error @+1 {{expected 'tensor<4xf32>' as declared, got 'tensor<5xf32>'}}
  %w = zero.read @w : tensor<5xf32>
  return
}

// -----

// expected-note @+1 {{declared here}}
zero.buffer parameter @bucket0 : tensor<64xf32> shards 2
func.func @step(%x: tensor<128xf32>) {
  // expected-error @+1 {{expected 'tensor<64xf32>' as declared, got 'tensor<128xf32>'}}
  zero.write @bucket0, %x : tensor<128xf32>
  return
}

// -----

func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a parameter, state or buffer named @w}}
  zero.write @w, %x : tensor<4xf32>
  return
}

// -----

zero.state constant @c : tensor<4xf32>
func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a parameter named @c}}
  %g = zero.gradient @c, %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{declared here}}
zero.parameter @w : tensor<4xf32>
func.func @step(%x: tensor<4xf64>) {
  // expected-error @+1 {{expected 'tensor<4xf32>' as declared, got 'tensor<4xf64>'}}
  %g = zero.gradient @w, %x : tensor<4xf64> -> tensor<4xf64>
  return
}

// -----

func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a parameter, state or buffer named @w}}
  zero.update @w [], %x by @sgd() : tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{declared here}}
zero.parameter @w : tensor<5xf32>
func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'tensor<5xf32>' as declared, got 'tensor<4xf32>'}}
  zero.update @w [], %x by @sgd() : tensor<4xf32>
  return
}

// -----

zero.parameter @w : tensor<4xf32>
func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a parameter, state or buffer named @w.m}}
  zero.update @w [@w.m], %x by @sgd() : tensor<4xf32>
  return
}

// -----

zero.parameter @w : tensor<4xf32>
func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a kernel named @sgd}}
  zero.update @w [], %x by @sgd() : tensor<4xf32>
  return
}

// -----

zero.parameter @w : tensor<4xf32>
func.func @step(%x: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{expected a kernel of 3 arguments, got 2}}
  zero.update @w [], %x by @sgd(%lr) : tensor<4xf32>, (tensor<f32>)
  return
}
func.func private @sgd(%w: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  return %w : tensor<?xf32>
}

// -----

zero.parameter @w : tensor<4xbf16>
func.func @step(%x: tensor<4xbf16>) {
  // expected-error @+1 {{expected a result of type 'tensor<4xbf16>' or of f32 or bf16, got 'tensor<4xf16>'}}
  %g = zero.gradient @w, %x : tensor<4xbf16> -> tensor<4xf16>
  return
}

// -----

// The sum over micro-batches is f32. The summand has the type of the parameter.
// expected-note @+1 {{declared here}}
zero.parameter @w : tensor<4xbf16>
func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 'tensor<4xbf16>' as declared, got 'tensor<4xf32>'}}
  %g = zero.gradient @w, %x accumulate [@first, @later] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

zero.parameter @w : tensor<4xbf16>
func.func @step(%x: tensor<4xbf16>) {
  // expected-error @+1 {{failed to verify that all of {local, result} have same shape}}
  %g = zero.gradient @w, %x : tensor<4xbf16> -> tensor<5xf32>
  return
}

// -----

zero.parameter @w : tensor<4xbf16>
func.func @step(%x: tensor<4xbf16>) {
  // expected-error @+1 {{attribute 'accumulate' failed to satisfy constraint: kernels}}
  %g = "zero.gradient"(%x) {parameter = @w, accumulate = ["first", "later"]} : (tensor<4xbf16>) -> tensor<4xf32>
  return
}

// -----

// A master is f32 beside a 16-bit parameter, and the shapes must agree.
// expected-note @+1 {{declared here}}
zero.state optimizer @w.master of @w : tensor<5xf32>
zero.parameter @w : tensor<4xbf16>
func.func @step(%x: tensor<4xbf16>) {
  // expected-error @+1 {{expected 'tensor<5xf32>' as declared, got 'tensor<4xbf16>'}}
  zero.update @w [@w.master], %x by @sgd() : tensor<4xbf16>
  return
}

// -----

zero.parameter @w : tensor<4xf32>
func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 3 or 4 kernels that measure, sum and scale, got 2}}
  zero.update @w [], %x by @lamb layerwise [@measure, @total]() : tensor<4xf32>
  return
}
func.func private @lamb(%w: tensor<?x64xf32>, %ratios: tensor<?xf32>) -> tensor<?x64xf32> attributes {zero.kernel}

// -----

zero.parameter @w : tensor<4xf32>
// expected-note @+1 {{prior use here}}
func.func @step(%x: tensor<4xf32>, %ok: tensor<1xi1>) {
  // expected-error @+1 {{use of value '%ok' expects different type than prior uses: 'tensor<i1>' vs 'tensor<1xi1>'}}
  zero.write @w, %x if %ok : tensor<4xf32>
  return
}

// -----

func.func @condition(%x: tensor<4xf32>, %ok: tensor<i8>) {
  // expected-error @+1 {{must be tensor<i1>, but got 'tensor<i8>'}}
  "zero.launch"(%x, %ok) {kernel = @k0, operandSegmentSizes = array<i32: 1, 1>} : (tensor<4xf32>, tensor<i8>) -> ()
  return
}

// -----

func.func @norm(%x: tensor<64xf32>) {
  // expected-error @+1 {{result #0 must be ranked tensor of 64-bit float values, but got 'tensor<f32>'}}
  %0 = zero.square_sum %x by [@blocks, @total] : (tensor<64xf32>) -> tensor<f32>
  return
}

// -----

func.func @mean(%x: tensor<bf16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 32-bit float values, but got 'tensor<bf16>'}}
  %0 = zero.micro_mean %x : tensor<bf16>
  return
}

// -----

func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a kernel named @k0}}
  %y = zero.launch @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @step(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a kernel named @no_kernel}}
  %y = zero.launch @no_kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @no_kernel(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @step(%x: tensor<5xf32>) {
  // expected-error @+1 {{expected operands and results as in '(tensor<4xf32>) -> tensor<4xf32>'}}
  %y = zero.launch @k0(%x) : (tensor<5xf32>) -> tensor<5xf32>
  return
}
// expected-note @+1 {{kernel defined here}}
func.func private @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {zero.kernel} {
  return %x : tensor<4xf32>
}

// -----

func.func @too_many_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected operands and results as in '(tensor<?xf32>) -> tensor<?xf32>'}}
  %y:2 = zero.launch @k0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
// expected-note @+1 {{kernel defined here}}
func.func private @k0(%x: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
  return %x : tensor<?xf32>
}

// -----

// A bufferized kernel has its results as arguments. A result in place has no separate argument.
func.func @destinations(%x: tensor<4xf32>) {
  %y = zero.launch @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected operands and results as in '(memref<4xf32>) -> ()'}}
  %z:2 = zero.launch @k0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
// expected-note @+1 {{kernel defined here}}
func.func private @k0(%x: memref<4xf32> {zero.inplace = 0 : i64}) attributes {zero.kernel} {
  return
}

// -----

func.func @collective(%x: tensor<?xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %y = zero.all_gather %x : (tensor<?xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @check(%x: tensor<2xi32>) {
  // expected-error @+1 {{must be ranked tensor of 64-bit signless integer values}}
  zero.check %x in [0, 1] "ids" : tensor<2xi32>
  return
}

// -----

// expected-error @+2 {{expected one of [device, host, nvme] for a memory tier, got: disk}}
// expected-error @+1 {{failed to parse Zero_PlacementAttr parameter 'tier' which is to be a `Tier`}}
zero.parameter @w : tensor<4xf32> {placement = #zero.placement<tier = disk>}

// -----

// expected-error @+1 {{expected '['}}
zero.parameter @w : tensor<4xf32> {placement = #zero.placement<shard = @data>}

// -----

// expected-error @+2 {{expected ::zero::Role to be one of: parameter, optimizer, constant}}
// expected-error @+1 {{failed to parse Zero_RoleAttr parameter 'value' which is to be a `::zero::Role`}}
zero.state weights @w : tensor<4xf32>

// -----

func.func @far(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected adjacent tiers, device and host or host and nvme, got nvme and device}}
  %y = zero.transfer %x from nvme to device : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @small(%x: tensor<4xf32>, %into: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a destination of type 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %y = zero.transfer %x from host to nvme into %into : tensor<2xf32> : tensor<4xf32>
  return %y : tensor<4xf32>
}
