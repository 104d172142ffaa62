//===- vector_targets.h - code for several kinds of vectors -----*- C++ -*-===//
//
// On x86-64 a loop is compiled once for each kind of vectors, and selected when the program runs.
// On other processors the vectors of the target that the runtime is compiled for are the only ones.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_VECTOR_TARGETS_H
#define RUNTIME_SUPPORT_VECTOR_TARGETS_H

#if defined(__x86_64__)
/// Compiles a function for a processor with `features`.
#define ZERO_RT_TARGET(features) [[gnu::target(features)]]
/// Compiles a function once for each of the given features, and selects one when it is loaded.
#define ZERO_RT_TARGET_CLONES(...) [[gnu::target_clones(__VA_ARGS__)]]
/// Whether this processor has `feature`.
#define ZERO_RT_HAS(feature) __builtin_cpu_supports(feature)
#else
#define ZERO_RT_TARGET(features)
#define ZERO_RT_TARGET_CLONES(...)
#define ZERO_RT_HAS(feature) false
#endif

#endif // RUNTIME_SUPPORT_VECTOR_TARGETS_H
