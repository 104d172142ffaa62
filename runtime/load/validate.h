//===- validate.h - validate the tables -------------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_H
#define RUNTIME_LOAD_VALIDATE_H

#include "runtime/format/format.h"

namespace zero::rt {

/// Checks everything that the executor relies on: indices, sizes and addresses inside
/// the arena on every rank, known types, no predicated collective, segments in order.
/// What kernels do with their arguments is theirs: executables are programs.
Status validate(const Executable &executable);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_H
