//===- NamePatterns.h - glob patterns that select parameters ----*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_IMPORT_NAMEPATTERNS_H
#define ZERO_TRANSFORMS_IMPORT_NAMEPATTERNS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zero {

/// The glob patterns of one flag, with a record of those that have matched nothing yet.
class NamePatterns {
public:
  /// Fails after an error at `module`, which names a bad pattern "`what` pattern".
  static mlir::FailureOr<NamePatterns> create(mlir::ModuleOp module, llvm::StringRef what,
                                              llvm::ArrayRef<std::string> texts);

  bool empty() const { return members.empty(); }
  /// Whether a pattern matches one of the names of a tensor. Marks every pattern that does.
  bool match(llvm::ArrayRef<llvm::StringRef> names);
  struct Member {
    std::string text; ///< to which the pattern refers
    std::optional<llvm::GlobPattern> pattern;
    bool isUsed = false;
  };
  /// The first pattern that has matched nothing, or null.
  const Member *findUnused() const;
  /// The name of `member` in messages: "freeze pattern 'fc.*'".
  std::string describe(const Member &member) const {
    return what + " pattern '" + member.text + "'";
  }

private:
  std::string what;
  std::vector<std::unique_ptr<Member>> members;
};

/// Whether `pattern` matches one of `names`.
bool matchesAny(const llvm::GlobPattern &pattern, llvm::ArrayRef<llvm::StringRef> names);

} // namespace zero

#endif // ZERO_TRANSFORMS_IMPORT_NAMEPATTERNS_H
