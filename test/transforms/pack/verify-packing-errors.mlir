// RUN: zero-opt %s --split-input-file --zero-verify-packing --verify-diagnostics

// expected-error @+1 {{expected zero.certificate; run zero-pack-arena first}}
module {
  func.func @step() {
    return
  }
}

// -----

// Two values that are live at the same time.
module attributes {zero.certificate = [#zero.arena<tier = device, peak = 512>]} {
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 0>}) -> tensor<64xf32> {
    // expected-note @+1 {{256 bytes at offset 256}}
    %a = arith.negf %x {zero.offsets = array<i64: 256>} : tensor<64xf32>
    // expected-error @+1 {{256 bytes at offset 128 are written while other values are live there}}
    %b = arith.negf %a {zero.offsets = array<i64: 128>} : tensor<64xf32>
    return %b : tensor<64xf32>
  }
}

// -----

module attributes {zero.certificate = [#zero.arena<tier = device, peak = 512>]} {
  // expected-error @+1 {{a value of 256 bytes at offset 384 is outside the arena of 512}}
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 384>}) {
    return
  }
}

// -----

// A value without an offset.
module attributes {zero.certificate = [#zero.arena<tier = device, peak = 512>]} {
  // expected-error @+1 {{a value of 256 bytes at offset -1 is outside the arena of 512}}
  func.func @step(%x: tensor<64xf32>) {
    return
  }
}

// -----

// Sharing the same bytes one after the other is accepted.
module attributes {zero.certificate = [#zero.arena<tier = device, peak = 512>]} {
  func.func @step(%x: tensor<64xf32> {zero.offsets = array<i64: 0>}) -> tensor<64xf32> {
    %a = arith.negf %x {zero.offsets = array<i64: 256>} : tensor<64xf32>
    %b = arith.negf %a {zero.offsets = array<i64: 0>} : tensor<64xf32>
    return %b : tensor<64xf32>
  }
}
