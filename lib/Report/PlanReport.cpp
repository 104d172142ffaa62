//===- PlanReport.cpp - the files of --report -----------------------------===//

#include "zero/Report/PlanReport.h"

#include "runtime/support/file.h"
#include "zero/Page/Page.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace zero {

static constexpr char kPage[] =
#include "lib/Report/page.inc"
    ;

/// JSON alone, or the page with it inside, by the path's suffix.
static std::string reportFor(StringRef path, const std::string &json) {
  return path.ends_with(".html") ? fillPage(kPage, json) : json + "\n";
}

static rt::Status writeFile(const std::string &path, const std::string &text) {
  rt::OutputFile file;
  ZERO_RT_TRY(rt::OutputFile::create(path, file));
  ZERO_RT_TRY(file.write(text));
  return file.commit();
}

LogicalResult writeReports(const PlanReport &report, ArrayRef<std::string> paths,
                           MLIRContext &context) {
  const std::string json = reportAsJson(report);
  for (const std::string &path : paths)
    if (rt::Status status = writeFile(path, reportFor(path, json)); !status.ok())
      return emitError(UnknownLoc::get(&context)) << status.getMessage();
  return success();
}

} // namespace zero
