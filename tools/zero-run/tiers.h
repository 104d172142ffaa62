//===- tiers.h - bytes and wear of tiers ------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_TIERS_H
#define TOOLS_ZERO_RUN_TIERS_H

#include "handles.h"
#include "options.h"
#include "results.h"
#include "runtime/support/json_writer.h"

#include <string>

namespace zero::run {

/// Bytes that a rank reserves.
struct RankBytes {
  uint64_t memory = 0; ///< of the device and of the host
  uint64_t host = 0;   ///< the part of the host
  uint64_t disk = 0;
};
RankBytes rankBytes(const Executable &executable);
/// "241.0 MiB", or "241.0 MiB and 133.0 MiB on disk".
std::string memoryText(const RankBytes &bytes);

/// A line that compares the memory of a rank, measured with --check-memory, with the plan; empty
/// without a measurement. What the library of MPI takes in a process is beside the plan.
std::string measuredText(const Executable &executable, const Results &results);

/// The wear of the drives of the ranks' files by a run.
DriveUse driveUse(const Executable &executable, const Session &session, const Results &results,
                  const Options &options);
/// A line for the output.
std::string driveText(const DriveUse &drive);
/// The same as an object.
void writeDrive(rt::JsonWriter &json, const DriveUse &drive);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_TIERS_H
