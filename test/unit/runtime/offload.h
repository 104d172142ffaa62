//===- offload.h - a program with offloaded state ---------------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_OFFLOAD_H
#define TEST_UNIT_RUNTIME_OFFLOAD_H

#include "runtime/format/executable.pb.h"

namespace zero::rt {

/// Replaces the waits of all commands by those that the listed order needs.
void orderByBytes(proto::Program &program);

/// Returns a variant of `program`, whose state resides on the device, with parameters on the host
/// and optimizer state on disk or on the host. State that a segment accesses is copied `lead`
/// commands earlier, on separate lanes, and is copied back if it was changed. States that only an
/// update accesses share their bytes on the device one after the other, and also those in host
/// memory on the way to disk. Updates run on the host's lane.
proto::Program offload(const proto::Program &program, bool toDisk, int lead);

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_OFFLOAD_H
