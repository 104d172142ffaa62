//===- SelectParameters.h - select trained constants ------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_SELECTPARAMETERS_H
#define LIB_TRANSFORMS_IMPORT_SELECTPARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

struct SelectionOptions {
  /// Train exactly these names and what matches these globs, and freeze the other
  /// parameters; not set: train all that are parameters by what the exporter said, or else
  /// by use and name.
  std::optional<std::vector<std::string>> trainable;
  /// Glob patterns of parameters to freeze.
  std::vector<std::string> freeze;
  /// If there are any: freeze what none of these glob patterns matches.
  std::vector<std::string> freezeAllBut;
  /// Train nothing: every parameter is frozen, there is no loss.
  bool forwardOnly = false;
  /// Name in errors everything that is wrong.
  bool verbose = false;

  /// Whether the user has thought of what is frozen.
  bool saysWhatIsFrozen() const {
    return trainable || !freeze.empty() || !freezeAllBut.empty() || forwardOnly;
  }
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

/// Makes parameters of the constants that are trained or frozen, and drops those
/// that the loss does not depend on. Nothing, after an error at `module`, on a
/// name that is missing or a pattern that matches nothing. Warns where names look
/// like those of adapters or teachers and no option says what is frozen.
std::optional<Selection> selectParameters(mlir::ModuleOp module, const SelectionOptions &options);

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_SELECTPARAMETERS_H
