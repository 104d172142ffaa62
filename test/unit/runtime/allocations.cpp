//===- allocations.cpp - counts large allocations -------------------------===//

#include "allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

static std::atomic<bool> watching{false};
static std::atomic<size_t> large{0}, largest{0};

AllocationWatch::AllocationWatch() {
  large = largest = 0;
  watching = true;
}
AllocationWatch::~AllocationWatch() { watching = false; }
size_t AllocationWatch::largeAllocations() const { return large; }
size_t AllocationWatch::largestAllocation() const { return largest; }

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

static void count(size_t bytes) {
  if (bytes <= 4096 || !watching.load(std::memory_order_relaxed))
    return;
  large.fetch_add(1, std::memory_order_relaxed);
  for (size_t seen = largest; bytes > seen && !largest.compare_exchange_weak(seen, bytes);)
    ;
}

// glibc's own entry points, whose names remain available under interposition.
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  count(number * bytes);
  return __libc_calloc(number, bytes);
}
void *realloc(void *old, size_t bytes) {
  count(bytes);
  return __libc_realloc(old, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **result, size_t alignment, size_t bytes) {
  *result = memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
}

#endif
