//===- allocations.h - counts large allocations -----------------*- C++ -*-===//
//
// allocations.cpp replaces malloc and its family in the test program; a watch
// counts, over all threads, what was asked for in its lifetime.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_ALLOCATIONS_H
#define TEST_UNIT_RUNTIME_ALLOCATIONS_H

#include <cstddef>

class AllocationWatch {
public:
  AllocationWatch();
  ~AllocationWatch();
  /// Allocations of more than 4 KiB since the watch began. Always 0 under a
  /// sanitizer, which has its own malloc.
  size_t largeAllocations() const;
};

#endif // TEST_UNIT_RUNTIME_ALLOCATIONS_H
