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

/// Writes `json` or, if the path ends in .html, `page` with it. Each file is written completely or
/// not at all.
llvm::LogicalResult writePages(llvm::StringRef page, const std::string &json,
                               llvm::ArrayRef<std::string> paths, mlir::MLIRContext &context);

/// The same with the JSON and the page of `report`.
llvm::LogicalResult writeReports(const PlanReport &report, llvm::ArrayRef<std::string> paths,
                                 mlir::MLIRContext &context);

} // namespace zero

#endif // ZERO_REPORT_PLANREPORT_H
