//===- random.cpp - arc4random() for older systems ------------------------===//
//
// The only function of glibc 2.36 that LLVM calls. With this one the wheel needs glibc 2.35.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" uint32_t arc4random() noexcept {
  uint32_t value;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    std::abort();
  return value;
}
