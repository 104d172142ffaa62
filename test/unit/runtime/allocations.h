//===- allocations.h - counts large allocations -----------------*- C++ -*-===//
//
// allocations.cpp replaces malloc and its family in the test program; a watch
// counts, over all threads, what was asked for in its lifetime.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_ALLOCATIONS_H
#define TEST_UNIT_RUNTIME_ALLOCATIONS_H

#include "runtime/format/format.h"

#include <cstddef>

class AllocationWatch {
public:
  AllocationWatch();
  ~AllocationWatch();
  /// Allocations of more than 4 KiB since the watch began. Always 0 under a
  /// sanitizer, which has its own malloc.
  size_t largeAllocations() const;
};

/// What tests expect of the steps of a program with products: oneDNN's packs its operands into
/// memory of its own where the processor has no AVX-512.
#define EXPECT_NO_LARGE_ALLOCATIONS(watch)                                                         \
  if (::zero::rt::missingFeature("avx512f avx512bw avx512dq avx512vl").empty())                    \
  EXPECT_EQ((watch).largeAllocations(), 0u)

#endif // TEST_UNIT_RUNTIME_ALLOCATIONS_H
