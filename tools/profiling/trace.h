//===- trace.h - a recorded step for Perfetto -------------------*- C++ -*-===//

#ifndef TOOLS_PROFILING_TRACE_H
#define TOOLS_PROFILING_TRACE_H

#include "runtime/support/file.h"

#include <vector>

namespace zero::run {

/// Writes the last step of what each rank recorded of each shape as Chrome's JSON, which Perfetto
/// reads: a process for each rank, in it a track for the steps and one for each lane that the
/// program uses, above each the same of `plan`, a step of the first shape that begins when the
/// rank's does; null: there is none. `commands` are those of all shapes. `shapes`: recordings by
/// rank, of which all or none have steps.
rt::Status writeTrace(const std::vector<zero_rt_command_info> &commands,
                      const std::vector<std::vector<zero_rt_recording>> &shapes,
                      const zero_rt_recording *plan, rt::OutputFile &file);

} // namespace zero::run

#endif // TOOLS_PROFILING_TRACE_H
