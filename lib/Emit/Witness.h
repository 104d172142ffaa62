//===- Witness.h - where state and gradients go, as JSON --------*- C++ -*-===//

#ifndef LIB_EMIT_WITNESS_H
#define LIB_EMIT_WITNESS_H

#include "runtime/format/format.h"

#include <string>

namespace zero {

/// The places of tensors and gradients of `program`, and its commands with the values that they
/// read and write; docs/reference/schedule.md has the fields.
std::string witnessOf(const rt::proto::Program &program);

} // namespace zero

#endif // LIB_EMIT_WITNESS_H
