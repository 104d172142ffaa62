//===- PlanReport.h - a plan as JSON and as a page --------------*- C++ -*-===//

#ifndef ZERO_REPORT_PLANREPORT_H
#define ZERO_REPORT_PLANREPORT_H

#include "zero/Report/DecisionLog.h"
#include "zero/Report/MemoryMap.h"
#include "zero/Report/PlanSummary.h"

namespace zero {

/// All that --report writes: the certificate's numbers and what they come from.
struct PlanReport {
  std::string model; ///< name of the file, without its folder
  PlanSummary summary;
  MemoryMap memory;
  std::vector<DecisionLog::Entry> decisions;
};

/// One line of JSON; docs/reference/report.md has the fields. Has neither '<' nor line separators,
/// so that it can stand inside a script of a page as it is.
std::string reportAsJson(const PlanReport &report);

/// Writes the JSON or, to a path that ends in .html, the page with it. Each file appears
/// whole or not at all.
llvm::LogicalResult writeReports(const PlanReport &report, llvm::ArrayRef<std::string> paths,
                                 mlir::MLIRContext &context);

} // namespace zero

#endif // ZERO_REPORT_PLANREPORT_H
