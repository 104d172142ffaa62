//===- validate_tiers.h - validate tiers ------------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_TIERS_H
#define RUNTIME_LOAD_VALIDATE_TIERS_H

#include "runtime/format/format.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Checks the arenas, that objects that must reside on the device do so, that only copies access
/// the disk, in full blocks and on its lanes, and that each lane supports its commands: beside a
/// GPU, what runs where. Addresses need not have been checked.
Status validateTiers(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_TIERS_H
