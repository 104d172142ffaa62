//===- DecisionLog.h - what passes decided, for the report ------*- C++ -*-===//

#ifndef LIB_PIPELINES_DECISIONLOG_H
#define LIB_PIPELINES_DECISIONLOG_H

#include "mlir/IR/MLIRContext.h"

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
  };

  /// Collects the remarks of `context` from now on. Outlives the context.
  llvm::LogicalResult attach(mlir::MLIRContext &context);

  /// Writes whether 16-bit floats were widened, which parameters are trained, which
  /// float constants are not, which masks of attention are read from memory, and which
  /// attentions are not one call of the library.
  void print(llvm::raw_ostream &os) const;

private:
  void printList(llvm::StringRef category, llvm::StringRef name, llvm::StringRef title,
                 llvm::raw_ostream &os) const;

  std::vector<Entry> entries;
};

} // namespace zero

#endif // LIB_PIPELINES_DECISIONLOG_H
