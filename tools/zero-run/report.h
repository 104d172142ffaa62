//===- report.h - a run as JSON ---------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_REPORT_H
#define TOOLS_ZERO_RUN_REPORT_H

#include "handles.h"
#include "results.h"
#include "tools/profiling/profile_text.h"

#include <string>

namespace zero::run {

/// Memory by role, elements received by rank, losses, other figures and seconds.
std::string reportJson(const Executable &executable, const Session &session,
                       const Results &results);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_REPORT_H
