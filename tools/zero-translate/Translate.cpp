//===- Translate.cpp - the work of zero-translate -------------------------===//

#include "Translate.h"

#include "zero/Import/Diagnostics.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace zero {

void listOperators(llvm::raw_ostream &os) {
  for (const ops::OpDef &def : ops::allOps()) {
    if (def.domain == ops::kZeroDomain)
      continue;
    llvm::StringRef gradient = def.gradient            ? "yes"
                               : def.expand            ? "expanded"
                               : def.piecewiseConstant ? "zero"
                                                       : "lowering";
    os << (def.domain.empty() ? "ai.onnx" : def.domain) << '\t' << def.type << '\t' << def.minOpset
       << '\t' << def.maxOpset << '\t' << gradient << '\t' << (def.anySign ? "yes" : "-") << '\t'
       << def.family << '\n';
  }
}

bool translate(const std::string &input, ImportOptions options, const std::string &shapes,
               const std::string &output, bool locations) {
  std::string error = parseShapeBindings(shapes, options.shapes);
  if (!error.empty()) {
    llvm::errs() << "zero-translate: --shape: " << printable(error) << "\n";
    return false;
  }
  options.evaluatorOf = ops::evaluatorOf;
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  DiagnosticPrinter diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = importOnnx(input, options, &context);
  if (!module)
    return false;
  auto file = mlir::openOutputFile(output, &error);
  if (!file) {
    llvm::errs() << "zero-translate: " << printable(error) << "\n";
    return false;
  }
  module->print(file->os(), mlir::OpPrintingFlags().enableDebugInfo(locations));
  file->keep();
  return true;
}

} // namespace zero
