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
  /// Trains exactly these names and those that match these globs, and freezes the other parameters.
  /// Not set: trains all constants that are parameters according to the exporter or, without its
  /// metadata, according to use and name.
  std::optional<std::vector<std::string>> trainable;
  /// Glob patterns of parameters to freeze, besides those that the exporter says were frozen.
  std::vector<std::string> freeze;
  /// If not empty: freezes the parameters that match none of these glob patterns.
  std::vector<std::string> freezeAllBut;
  /// Freeze every parameter: nothing is trained, or only what later passes add.
  bool freezeAll = false;
  /// Name in errors everything that is wrong.
  bool verbose = false;

  /// Whether the user has specified what is trained; otherwise the exporter's record counts.
  bool saysWhatIsTrained() const { return trainable || !freezeAllBut.empty() || freezeAll; }
};

/// The decisions for the model's float constants of more than one element.
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

/// Turns constants that are trained or frozen into parameters, and drops those that the loss does
/// not depend on. Returns nothing, after an error at `module`, for a missing name or a pattern
/// without matches. Warns if names look like those of adapters or teachers and no option says what
/// is frozen.
std::optional<Selection> selectParameters(mlir::ModuleOp module, const SelectionOptions &options);

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_SELECTPARAMETERS_H
