//===- lane_check.h - verify the order of lanes -----------------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_LANE_CHECK_H
#define RUNTIME_VERIFY_LANE_CHECK_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/status.h"

namespace zero::rt {

/// Proves that however fast the lanes are, all bytes are read and written in the listed
/// order, and that no lane waits for ever: commands that touch the same bytes, one of them
/// writing, follow each other on a lane or by waits, as do all collectives, which ranks must
/// come to in one order. Refuses, naming both commands and the
/// bytes, a program of which that is not so. Its tables' addresses have been checked.
///
/// Of each byte only the last writer and each lane's last reader since are looked at: who
/// came before these came before the next one, too (FastTrack, Flanagan and Freund, PLDI
/// 2009, section 3).
Status checkLanes(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_LANE_CHECK_H
