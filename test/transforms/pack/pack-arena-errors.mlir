// RUN: zero-opt %s --zero-pack-arena --verify-diagnostics

// expected-error @+1 {{expected a function named @step that is one training step}}
module {
}
