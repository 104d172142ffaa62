//===- lane_check.h - verify the order of lanes -----------------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_LANE_CHECK_H
#define RUNTIME_VERIFY_LANE_CHECK_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Proves for any speed of the lanes that all bytes are read and written in the listed order, and
/// that no lane waits forever. Commands that access the same bytes, one of them writing, must be
/// ordered by a lane or by waits, as must all collectives, which all ranks must reach in the same
/// order. Otherwise fails with an error that names both commands and the bytes. The addresses of
/// the tables must have been checked.
///
/// For each byte only the last writer and each lane's last reader since are checked: commands that
/// precede these also precede the next one (FastTrack, Flanagan and Freund, PLDI 2009, section 3).
Status checkLanes(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_LANE_CHECK_H
