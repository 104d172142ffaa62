//===- probe.h - what element-wise kernels do -------------------*- C++ -*-===//

#ifndef CHECK_PROBE_H
#define CHECK_PROBE_H

#include <cstdint>
#include <string>
#include <vector>

namespace zero::check {

/// What is known of a kernel over a length.
struct Meaning {
  enum Form : int {
    Opaque,    ///< samples contradict that it is element-wise, or it cannot be run
    Element,   ///< element i of its results depends on element i of its operands only
    Copy,      ///< of two arguments: the first becomes the second
    Add,       ///< the first becomes itself plus the second
    Scale,     ///< the first becomes the second times `factor`
    AddScaled, ///< the first becomes itself plus the second times `factor`
  } form = Opaque;
  float factor = 1;
};

/// An argument of a kernel over a length: bytes of an element, or of all of it if that is 0.
struct ProbedArgument {
  uint64_t width = 0, bytes = 0;
  bool written = false;
};

/// Runs `symbol` of the shared object `code` on samples, in a child process that ends after some
/// seconds. Kernels of two arguments of 4 bytes are taken to be of float32.
Meaning probe(const std::string &code, const std::string &symbol,
              const std::vector<ProbedArgument> &arguments);

} // namespace zero::check

#endif // CHECK_PROBE_H
