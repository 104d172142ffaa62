//===- values.h - what the session hands out --------------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_VALUES_H
#define RUNTIME_SESSION_VALUES_H

#include "runtime/format/tables.h"

namespace zero::rt {

/// Fails unless `got` bytes are room for the value `name` of `expected` bytes.
Status checkSize(const std::string &name, uint64_t expected, uint64_t got);

/// There is no `what` of this name.
Status notFound(const char *what, const std::string &name);

} // namespace zero::rt

#endif // RUNTIME_SESSION_VALUES_H
