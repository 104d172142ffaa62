//===- DecisionLog.h - decisions of passes, for the report ------*- C++ -*-===//

#ifndef ZERO_REPORT_DECISIONLOG_H
#define ZERO_REPORT_DECISIONLOG_H

#include "mlir/IR/MLIRContext.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

/// Collects the decisions that passes report, with reasons, as MLIR remarks.
class DecisionLog {
public:
  struct Entry {
    std::string category; ///< "parameters", ...
    std::string name;     ///< "trained", "left-out", ...
    std::string text;
    /// The figures of the decision, if the remark has a number "bytes" or "seconds".
    std::optional<int64_t> bytes;
    std::optional<double> seconds;
  };

  /// Collects the remarks of `context` from now on. Outlives the context.
  llvm::LogicalResult attach(mlir::MLIRContext &context);

  /// Prints decisions for the user: precision, tiles, attentions that are not a single kernel,
  /// trained parameters, which optimizer updates them if there are two, and float constants that
  /// are not trained. Many parameters are summarized, with equal ones of repeated layers in one
  /// line, unless `verbose`.
  void print(llvm::raw_ostream &os, bool verbose) const;

  llvm::ArrayRef<Entry> getEntries() const { return entries; }
  /// Drops what was decided after the first `count` decisions.
  void truncate(size_t count) { entries.resize(count); }

private:
  std::vector<const Entry *> select(llvm::StringRef category, llvm::StringRef name) const;

  std::vector<Entry> entries;
};

} // namespace zero

#endif // ZERO_REPORT_DECISIONLOG_H
