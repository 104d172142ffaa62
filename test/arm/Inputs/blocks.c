/* Preloaded: counts the blocks above 4 KiB that a program allocates. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_long blocks;

void *malloc(size_t bytes) {
  static void *(*next)(size_t);
  if (!next)
    next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  blocks += bytes > 4096;
  return next(bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  static int (*next)(void **, size_t, size_t);
  if (!next)
    next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  blocks += bytes > 4096;
  return next(block, alignment, bytes);
}

__attribute__((destructor)) static void report(void) {
  char text[64];
  const int length = snprintf(text, sizeof(text), "blocks above 4 KiB: %ld\n", (long)blocks);
  if (write(STDERR_FILENO, text, (size_t)length) < 0)
    _exit(1);
}
