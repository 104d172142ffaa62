//===- AdapterTargets.h - patterns of modules to adapt ----------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_ADAPTERTARGETS_H
#define LIB_TRANSFORMS_IMPORT_ADAPTERTARGETS_H

#include "dialects/Zero/Zero.h"

#include "llvm/Support/GlobPattern.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

/// The module that has the tensor `name`: "h.0.attn" of "h.0.attn.weight".
llvm::StringRef moduleOf(llvm::StringRef name);

/// A module's name or the end of it, as PEFT's target_modules has it, or a glob of whole names.
class TargetPattern {
public:
  /// Fails after an error at `module` for a glob that cannot be read.
  static mlir::FailureOr<TargetPattern> create(mlir::ModuleOp module, llvm::StringRef text);

  llvm::StringRef getText() const { return text; }
  bool isGlob() const { return hasWildcards; }
  /// Whether it matches the tensor `name` or the module that has it.
  bool match(llvm::StringRef name) const;

private:
  std::string text;
  bool hasWildcards = false;
  std::optional<llvm::GlobPattern> pattern;
};

/// The ends of `modules`, or for a glob the whole names, that are most like `pattern`: the likest
/// one first, each once.
std::vector<std::string> nearestTargets(const TargetPattern &pattern,
                                        llvm::ArrayRef<llvm::StringRef> modules);

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_ADAPTERTARGETS_H
