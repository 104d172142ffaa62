// RUN: zero-opt %s --split-input-file --zero-verify-schedule --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}

// -----

// expected-error @+1 {{expected zero.certificate; run the phase `pack` first}}
module {
  func.func @step() {
    return
  }
}

// -----

// The result of zero-pack-arena is accepted. The slices of all ranks are tracked, too.
module attributes {zero.ranks = 2 : i64, zero.certificate = [#zero.arena<tier = device, peak = 1536, lower_bound = 1536, peak_at = "first", most = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>, at_peak = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>>]} {
  zero.buffer optimizer @m : tensor<64xf32> shards 2 {zero.offsets = array<i64: 256>}
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 0>}) {
    %a = zero.launch @make(%x) {zero.name = "first", zero.offsets = array<i64: -1, 1024>} : (tensor<64xf32>) -> tensor<64xf32>
    %b = zero.launch @make(%x) {zero.name = "second", zero.offsets = array<i64: -1, 1024>} : (tensor<64xf32>) -> tensor<64xf32>
    %g = zero.bucket(%a, %b) at [0, 64] {zero.offsets = array<i64: 512>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
    %s = zero.reduce_scatter %g in_place {zero.name = "g"} : (tensor<128xf32>) -> tensor<64xf32>
    %m = zero.read @m : tensor<64xf32>
    %u = zero.launch @add(%m, %s) {zero.name = "update"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @m, %u : tensor<64xf32>
    return
  }
  func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel, zero.workspace = 512 : i64} {
    return %x : tensor<64xf32>
  }
  func.func private @add(%m: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %m : tensor<?xf32>
  }
}

// -----

// Scratch overlaps the state and the first gradient.
// expected-error @+1 {{internal: command 2 ('g', lane COLLECTIVE): it reads bytes 512 to 768 of the arena, which command 1 ('second') wrote last, with another value}}
module attributes {zero.ranks = 2 : i64, zero.certificate = [#zero.arena<tier = device, peak = 1536, lower_bound = 1536, peak_at = "first", most = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>, at_peak = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>>]} {
  zero.buffer optimizer @m : tensor<64xf32> shards 2 {zero.offsets = array<i64: 256>}
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 0>}) {
    %a = zero.launch @make(%x) {zero.name = "first", zero.offsets = array<i64: -1, 1024>} : (tensor<64xf32>) -> tensor<64xf32>
    %b = zero.launch @make(%x) {zero.name = "second", zero.offsets = array<i64: -1, 256>} : (tensor<64xf32>) -> tensor<64xf32>
    %g = zero.bucket(%a, %b) at [0, 64] {zero.offsets = array<i64: 512>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
    %s = zero.reduce_scatter %g in_place {zero.name = "g"} : (tensor<128xf32>) -> tensor<64xf32>
    %m = zero.read @m : tensor<64xf32>
    %u = zero.launch @add(%m, %s) {zero.name = "update"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @m, %u : tensor<64xf32>
    return
  }
  func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel, zero.workspace = 512 : i64} {
    return %x : tensor<64xf32>
  }
  func.func private @add(%m: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %m : tensor<?xf32>
  }
}

// -----

// An input overlaps the state.
// expected-error @+1 {{internal: command 3 ('update'): it reads bytes 256 to 512 of the arena, which an input wrote last, with another value}}
module attributes {zero.ranks = 2 : i64, zero.certificate = [#zero.arena<tier = device, peak = 1536, lower_bound = 1536, peak_at = "first", most = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>, at_peak = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>>]} {
  zero.buffer optimizer @m : tensor<64xf32> shards 2 {zero.offsets = array<i64: 256>}
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 256>}) {
    %a = zero.launch @make(%x) {zero.name = "first", zero.offsets = array<i64: -1, 1024>} : (tensor<64xf32>) -> tensor<64xf32>
    %b = zero.launch @make(%x) {zero.name = "second", zero.offsets = array<i64: -1, 1024>} : (tensor<64xf32>) -> tensor<64xf32>
    %g = zero.bucket(%a, %b) at [0, 64] {zero.offsets = array<i64: 512>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
    %s = zero.reduce_scatter %g in_place {zero.name = "g"} : (tensor<128xf32>) -> tensor<64xf32>
    %m = zero.read @m : tensor<64xf32>
    %u = zero.launch @add(%m, %s) {zero.name = "update"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @m, %u : tensor<64xf32>
    return
  }
  func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel, zero.workspace = 512 : i64} {
    return %x : tensor<64xf32>
  }
  func.func private @add(%m: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %m : tensor<?xf32>
  }
}

// -----

// The scratch of a kernel overlaps its result.
// expected-error @+1 {{internal: command 1 ('second'): it writes bytes 768 to 1024 of the arena twice, or also reads them}}
module attributes {zero.ranks = 2 : i64, zero.certificate = [#zero.arena<tier = device, peak = 1536, lower_bound = 1536, peak_at = "first", most = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>, at_peak = <parameters = 0, gradients = 512, optimizer = 256, activations = 256, working = 512>>]} {
  zero.buffer optimizer @m : tensor<64xf32> shards 2 {zero.offsets = array<i64: 256>}
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 0>}) {
    %a = zero.launch @make(%x) {zero.name = "first", zero.offsets = array<i64: -1, 1024>} : (tensor<64xf32>) -> tensor<64xf32>
    %b = zero.launch @make(%x) {zero.name = "second", zero.offsets = array<i64: -1, 768>} : (tensor<64xf32>) -> tensor<64xf32>
    %g = zero.bucket(%a, %b) at [0, 64] {zero.offsets = array<i64: 512>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
    %s = zero.reduce_scatter %g in_place {zero.name = "g"} : (tensor<128xf32>) -> tensor<64xf32>
    %m = zero.read @m : tensor<64xf32>
    %u = zero.launch @add(%m, %s) {zero.name = "update"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    zero.write @m, %u : tensor<64xf32>
    return
  }
  func.func private @make(%x: tensor<64xf32>) -> tensor<64xf32> attributes {zero.kernel, zero.workspace = 512 : i64} {
    return %x : tensor<64xf32>
  }
  func.func private @add(%m: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel} {
    return %m : tensor<?xf32>
  }
}
