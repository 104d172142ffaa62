//===- LaneWaits.h - waits between lanes that share bytes -------*- C++ -*-===//

#ifndef LIB_EMIT_LANEWAITS_H
#define LIB_EMIT_LANEWAITS_H

#include "runtime/format/executable.pb.h"

namespace zero {

/// Writes `waits` of all commands of `program`: so that lanes, which run beside each other,
/// find in every byte what the listed order says.
void addWaits(rt::proto::Program &program);

} // namespace zero

#endif // LIB_EMIT_LANEWAITS_H
