//===- values.h - read values of a session ----------------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_VALUES_H
#define RUNTIME_SESSION_VALUES_H

#include "runtime/format/tables.h"

namespace zero::rt {

/// Fails unless `got` is `expected`, the bytes of the value `name`.
Status checkSize(const std::string &name, uint64_t expected, uint64_t got);

/// The error that there is no `what` of this name.
Status notFound(const char *what, const std::string &name);

} // namespace zero::rt

#endif // RUNTIME_SESSION_VALUES_H
