//===- offload.h - a program whose state lies on other tiers ----*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_OFFLOAD_H
#define TEST_UNIT_RUNTIME_OFFLOAD_H

#include "runtime/format/executable.pb.h"

namespace zero::rt {

/// Writes the waits of all commands anew: those that the listed order needs, and no other.
void orderByBytes(proto::Program &program);

/// `program`, whose state lies on the device, with parameters on the host and optimizer state
/// on disk, or on the host: what a segment touches comes `lead` commands before it does, on
/// lanes of its own, and goes back where it was changed. What only an update touches shares
/// its bytes on the device, and in the host's memory on the way to disk, with other such state
/// that it takes turns with. Updates run on the host's lane.
proto::Program offload(const proto::Program &program, bool toDisk, int lead);

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_OFFLOAD_H
