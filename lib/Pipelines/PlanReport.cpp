//===- PlanReport.cpp - the files of --report -----------------------------===//

#include "PlanReport.h"

#include "ReportPage.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace zero {

/// JSON alone, or the page with it inside, by the path's suffix.
static void writeReport(StringRef json, StringRef path, llvm::raw_ostream &os) {
  if (!path.ends_with(".html")) {
    os << json << "\n";
    return;
  }
  auto [before, after] = StringRef(kReportPage).split("{{plan}}");
  os << before << json << after;
}

/// The error of a file whose last bytes did not arrive, as on a full disk. `os` is what
/// writeToOutput() opens for a path.
static llvm::Error flush(llvm::raw_ostream &os) {
  auto &file = static_cast<llvm::raw_fd_ostream &>(os);
  file.flush();
  std::error_code error = file.error();
  file.clear_error();
  return llvm::errorCodeToError(error);
}

LogicalResult writeReports(const PlanReport &report, ArrayRef<std::string> paths,
                           MLIRContext &context) {
  std::string json = reportAsJson(report);
  for (const std::string &path : paths) {
    // Written beside the file, then renamed.
    llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
      writeReport(json, path, os);
      return flush(os);
    });
    if (error)
      return emitError(UnknownLoc::get(&context))
             << "cannot write '" << path << "': " << llvm::toString(std::move(error));
  }
  return success();
}

} // namespace zero
