//===- PlanReport.h - a plan as JSON and as a web page ----------*- C++ -*-===//

#ifndef ZERO_REPORT_PLANREPORT_H
#define ZERO_REPORT_PLANREPORT_H

#include "zero/Report/DecisionLog.h"
#include "zero/Report/MemoryMap.h"
#include "zero/Report/PlanSummary.h"

namespace zero {

/// The contents of --report: the numbers of the certificate and their sources.
struct PlanReport {
  std::string model; ///< name of the file, without its directory
  PlanSummary summary;
  MemoryMap memory;
  std::vector<DecisionLog::Entry> decisions;
};

/// One line of JSON, embeddable in a page; docs/reference/report.md has the fields.
std::string reportAsJson(const PlanReport &report);

/// Writes the JSON or, if the path ends in .html, the page with it. Each file is written completely
/// or not at all.
llvm::LogicalResult writeReports(const PlanReport &report, llvm::ArrayRef<std::string> paths,
                                 mlir::MLIRContext &context);

} // namespace zero

#endif // ZERO_REPORT_PLANREPORT_H
