//===- allocations.h - counts large allocations -----------------*- C++ -*-===//
//
// allocations.cpp replaces malloc and its family in the test program. A watch counts the requests
// of all threads in its lifetime.
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
  /// Allocations of more than 4 KiB since the watch began. Always 0 under a sanitizer, which
  /// replaces malloc.
  size_t largeAllocations() const;
  /// Bytes of the largest of these; 0 if there was none.
  size_t largestAllocation() const;
};

/// The largest allocation that the steps of a program with products may make: nothing above 4 KiB.
/// Where the processor has no AVX-512, oneDNN's products pack their operands into memory that
/// oneDNN allocates. Its kernels determine the size of these blocks: at most 2 MiB per thread in
/// the models of test/data.
inline size_t libraryBytes() {
  const bool hasAvx512 = ::zero::rt::missingFeature("avx512f avx512bw avx512dq avx512vl").empty();
  return hasAvx512 ? 0 : size_t(2) << 20;
}
#define EXPECT_NO_LARGE_ALLOCATIONS(watch) EXPECT_LE((watch).largestAllocation(), libraryBytes())

#endif // TEST_UNIT_RUNTIME_ALLOCATIONS_H
