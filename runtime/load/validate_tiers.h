//===- validate_tiers.h - is each thing where it may be? --------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_TIERS_H
#define RUNTIME_LOAD_VALIDATE_TIERS_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Checks the arenas, that what only the device has lies there, that only copies reach the
/// disk, in whole blocks and on its lanes, and that each lane can do what it is given.
/// Addresses need not have been checked.
Status validateTiers(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_TIERS_H
