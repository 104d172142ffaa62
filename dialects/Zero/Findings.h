//===- Findings.h - errors that list many items -----------------*- C++ -*-===//
// Remedies come first, then examples.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_FINDINGS_H
#define DIALECTS_ZERO_FINDINGS_H

#include "mlir/IR/Diagnostics.h"

#include <optional>
#include <string>

namespace zero {

/// The number of findings that are listed without --verbose.
inline constexpr size_t kFindingsShown = 5;

/// One problem that a pass reports.
struct Finding {
  std::string text;
  std::optional<mlir::Location> where = std::nullopt;
};

/// Adds notes to `diagnostic`: each of `remedies`, then the first findings and the number of
/// further ones, or all findings if `verbose`.
void attachFindings(mlir::InFlightDiagnostic &diagnostic, llvm::ArrayRef<llvm::StringRef> remedies,
                    llvm::ArrayRef<Finding> findings, bool verbose);

/// The first of `names` in quotes, and how many more there are: "'a', 'b' and 7 more".
std::string listNames(llvm::ArrayRef<llvm::StringRef> names, bool verbose);

} // namespace zero

#endif // DIALECTS_ZERO_FINDINGS_H
