//===- report.h - a run as JSON ---------------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_REPORT_H
#define TOOLS_ZERO_RUN_REPORT_H

#include "handles.h"
#include "results.h"

namespace zero::run {

/// Memory by role, elements received by rank, losses and seconds. NaN is null.
std::string reportJson(const Executable &executable, const Session &session,
                       const Results &results);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_REPORT_H
