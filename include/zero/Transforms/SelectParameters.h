//===- SelectParameters.h - which constants are trained ---------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_SELECTPARAMETERS_H
#define ZERO_TRANSFORMS_SELECTPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

struct SelectionOptions {
  /// Train exactly these names and what matches these globs; not set: choose by what the
  /// exporter said, or else by use and name.
  std::optional<std::vector<std::string>> trainable;
  /// Glob patterns of parameters to freeze.
  std::vector<std::string> freeze;
  /// Train nothing: every parameter is frozen, there is no loss.
  bool forwardOnly = false;
};

/// What became of the model's float constants of more than one element.
struct Selection {
  struct Item {
    std::string name;
    std::string type;   ///< "128x784xf32"
    std::string reason; ///< left out: why; trained: "" or "frozen"
  };
  std::vector<Item> trained;
  std::vector<Item> leftOut;
};

/// Reads the names, one a line, of a --trainable file. Nothing, after an error
/// at `module`, if it cannot be read or names none.
std::optional<std::vector<std::string>> readTrainableFile(llvm::StringRef path,
                                                          mlir::ModuleOp module);

/// Makes parameters of the constants that are to be trained, and drops those
/// that the loss does not depend on. Nothing, after an error at `module`, on a
/// name that is missing or a pattern that matches nothing.
std::optional<Selection> selectParameters(mlir::ModuleOp module, const SelectionOptions &options);

} // namespace zero

#endif // ZERO_TRANSFORMS_SELECTPARAMETERS_H
