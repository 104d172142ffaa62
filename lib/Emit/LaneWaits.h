//===- LaneWaits.h - waits between lanes that share bytes -------*- C++ -*-===//

#ifndef LIB_EMIT_LANEWAITS_H
#define LIB_EMIT_LANEWAITS_H

#include "runtime/format/executable.pb.h"

namespace zero {

/// Sets `waits` of all commands of `program`, so that concurrent lanes read the same values in
/// every byte as in the listed order.
void addWaits(rt::proto::Program &program);

} // namespace zero

#endif // LIB_EMIT_LANEWAITS_H
