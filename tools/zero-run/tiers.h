//===- tiers.h - what a run keeps in memory and on a drive ------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_TIERS_H
#define TOOLS_ZERO_RUN_TIERS_H

#include "handles.h"
#include "results.h"
#include "runtime/support/json_writer.h"

#include <string>

namespace zero::run {

/// Bytes that a rank reserves.
struct RankBytes {
  uint64_t memory = 0; ///< of the device and of the host
  uint64_t disk = 0;
};
RankBytes rankBytes(const Executable &executable);
/// "241.0 MiB", or "241.0 MiB and 133.0 MiB on disk".
std::string memoryText(const RankBytes &bytes);

/// What a run does to the drive that its ranks' files lie on. `endurance`: bytes that may be
/// written to it in its life, 0 if nobody said.
DriveUse driveUse(const Executable &executable, const Session &session, const Results &results,
                  uint64_t endurance);
/// A line for people.
std::string driveText(const DriveUse &drive);
/// The same as an object.
void writeDrive(rt::JsonWriter &json, const DriveUse &drive);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_TIERS_H
