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

static rt::Status writeFile(const std::string &path, const std::string &text) {
  rt::OutputFile file;
  ZERO_RT_TRY(rt::OutputFile::create(path, file));
  ZERO_RT_TRY(file.write(text));
  return file.commit();
}

LogicalResult writePages(StringRef page, const std::string &json, ArrayRef<std::string> paths,
                         MLIRContext &context) {
  for (const std::string &path : paths) {
    const std::string text =
        StringRef(path).ends_with(".html") ? fillPage(page, json) : json + "\n";
    if (rt::Status status = writeFile(path, text); !status.ok())
      return emitError(UnknownLoc::get(&context)) << status.getMessage();
  }
  return success();
}

LogicalResult writeReports(const PlanReport &report, ArrayRef<std::string> paths,
                           MLIRContext &context) {
  return writePages(kPage, reportAsJson(report), paths, context);
}

} // namespace zero
