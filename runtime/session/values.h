//===- values.h - read values of a session ----------------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_VALUES_H
#define RUNTIME_SESSION_VALUES_H

#include "runtime/format/tables.h"

namespace zero::rt {

/// The bytes of a value that are read.
struct ValueRange {
  uint64_t offset = 0, bytes = 0;
  bool isWhole = false; ///< must be all

  static ValueRange whole(uint64_t bytes) { return {0, bytes, true}; }
  uint64_t end() const { return offset + bytes; }
};

/// Fails unless `range` is one of the value `name`, which has `size` bytes.
Status checkRange(const std::string &name, uint64_t size, const ValueRange &range);

/// The error that there is no `what` of this name.
Status notFound(const char *what, const std::string &name);

} // namespace zero::rt

#endif // RUNTIME_SESSION_VALUES_H
