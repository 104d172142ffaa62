//===- DecisionLog.h - what passes decided, for the report ------*- C++ -*-===//

#ifndef ZERO_REPORT_DECISIONLOG_H
#define ZERO_REPORT_DECISIONLOG_H

#include "mlir/IR/MLIRContext.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

/// Passes say what they decide, and why, as MLIR remarks; this keeps them.
class DecisionLog {
public:
  struct Entry {
    std::string category; ///< "parameters", ...
    std::string name;     ///< "trained", "left-out", ...
    std::string text;
    /// What the decision is about, where the remark has a number "bytes" or "seconds".
    std::optional<int64_t> bytes;
    std::optional<double> seconds;
  };

  /// Collects the remarks of `context` from now on. Outlives the context.
  llvm::LogicalResult attach(mlir::MLIRContext &context);

  /// Writes what a user should know: precision, tiles, which attentions are no single
  /// kernel, which parameters are trained, and which float constants are not. Of many parameters
  /// a summary, with like ones of repeated layers in one line, unless `verbose`.
  void print(llvm::raw_ostream &os, bool verbose) const;

  llvm::ArrayRef<Entry> getEntries() const { return entries; }

private:
  std::vector<const Entry *> select(llvm::StringRef name) const;

  std::vector<Entry> entries;
};

} // namespace zero

#endif // ZERO_REPORT_DECISIONLOG_H
