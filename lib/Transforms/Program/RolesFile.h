//===- RolesFile.h - names and roles of a program's arguments ---*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_ROLESFILE_H
#define LIB_TRANSFORMS_PROGRAM_ROLESFILE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

/// What a file says about an argument.
struct ListedArgument {
  std::string name;   ///< for --data and --weights
  std::string target; ///< the module's tensor that it is; empty: data
  std::string role;   ///< "parameter", "buffer", "data"; empty: not said
  std::optional<llvm::SmallVector<int64_t>> shape;
};

/// The names and roles of a program's arguments and results, as a JSON file lists them: either an
/// object with `args`, `outputs`, `grad_of` (output to target) and `loss` (an output), or a list of
/// arguments alone. Each argument is an object with `name` and optionally `target`, `role`,
/// `shape`.
struct RolesFile {
  std::vector<ListedArgument> arguments;
  std::vector<std::string> results;
  llvm::StringMap<std::string> gradientOf; ///< target, by the name of the result
  std::string loss;

  /// Reads the file at `path`. The error says what was expected where.
  static llvm::Expected<RolesFile> read(llvm::StringRef path);
};

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_ROLESFILE_H
