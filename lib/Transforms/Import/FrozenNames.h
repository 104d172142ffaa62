//===- FrozenNames.h - names that suggest frozen parameters -----*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_FROZENNAMES_H
#define LIB_TRANSFORMS_IMPORT_FROZENNAMES_H

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// `requires_grad=False` leaves no trace in an export. Warns at `module` where names of
/// parameters, all of which are trained, say that some should not be: adapters beside a
/// base, a teacher or a moving average beside a student. The warning has the flag to add.
void warnOfFrozenNames(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> trained);

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_FROZENNAMES_H
