//===- Roles.h - what the arguments and results of a program are *- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_ROLES_H
#define LIB_TRANSFORMS_PROGRAM_ROLES_H

#include "zero/Transforms/Program/Passes.h"

#include <optional>
#include <string>
#include <vector>

namespace zero {

/// What an argument is for the step.
enum class ArgumentRole {
  Data,      ///< given by the user in each step
  Parameter, ///< trained; the program returns its gradient, or Zero differentiates the loss
  Buffer,    ///< state that the step only reads
  Carried,   ///< state of which the program returns the next value
};

struct ProgramArgument {
  std::string name;
  std::optional<ArgumentRole> role; ///< unset while nothing says it
  std::optional<unsigned> result;   ///< of Carried: the next value; of Parameter: the gradient
  std::optional<unsigned> tiedTo;   ///< the earlier argument that is the same tensor
};

struct ProgramResult {
  std::string name;
  std::optional<unsigned> argument; ///< whose next value or gradient it is
};

/// The names and roles of all arguments and results.
struct ProgramRoles {
  std::vector<ProgramArgument> arguments;
  std::vector<ProgramResult> results;
  std::optional<unsigned> loss; ///< a result; none if the program only runs forward

  bool has(ArgumentRole role) const {
    return llvm::any_of(arguments,
                        [&](const ProgramArgument &argument) { return argument.role == role; });
  }
  /// State that is carried beside parameters that Zero updates is a buffer, such as running
  /// statistics.
  bool isWholeStep() const { return has(ArgumentRole::Carried) && !has(ArgumentRole::Parameter); }
};

/// The file of `program`, without a line.
mlir::Location locationOfFile(mlir::func::FuncOp program);

/// Finds the roles in the attributes and locations of `program`, in the file of roles and in the
/// pairs that `options` has. Fails after an error.
llvm::FailureOr<ProgramRoles> findRoles(mlir::func::FuncOp program,
                                        const BindArgumentsOptions &options);

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_ROLES_H
