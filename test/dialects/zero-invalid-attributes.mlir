// RUN: zero-opt %s --split-input-file --verify-diagnostics

// Attributes of the dialect on ops of others: a closed list.

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

// expected-error @+1 {{has unknown attribute zero.name}}
func.func private @result(%x: tensor<4xf32>) -> (tensor<4xf32> {zero.name = "y"})
