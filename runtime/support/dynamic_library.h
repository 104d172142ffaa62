//===- dynamic_library.h - load libraries on demand -------------*- C++ -*-===//
//
// What CUDA brings along is never linked: everything builds and runs without it, and
// says what was looked for where it is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_DYNAMIC_LIBRARY_H
#define RUNTIME_SUPPORT_DYNAMIC_LIBRARY_H

#include "runtime/support/status.h"

#include <span>
#include <vector>

namespace zero::rt {

/// Where to search for a library.
struct LibrarySource {
  const char *what;                ///< "the CUDA driver"
  const char *variable;            ///< environment: its path, in place of all names
  std::vector<const char *> names; ///< tried in this order
  const char *remedy;              ///< "install NVIDIA's driver"
};

/// One entry of a table of functions.
struct LibrarySymbol {
  const char *name;
  void **address;
  bool isOptional = false; ///< null if the library has none
};

/// A library that stays loaded as long as the process: other libraries may have taken
/// addresses from it.
class DynamicLibrary {
public:
  /// Finds the library and all `symbols`. Fails if there is no library (ZERO_RT_NOT_FOUND) or a
  /// function is missing (ZERO_RT_UNSUPPORTED). The error says what was tried and how to fix it.
  static Status open(const LibrarySource &source, std::span<const LibrarySymbol> symbols,
                     DynamicLibrary &library);

  /// The name by which the library was loaded.
  const std::string &name() const { return loaded; }

private:
  std::string loaded;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_DYNAMIC_LIBRARY_H
