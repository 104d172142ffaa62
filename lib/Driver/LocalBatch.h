//===- LocalBatch.h - check the batch of a configuration --------*- C++ -*-===//

#ifndef LIB_DRIVER_LOCALBATCH_H
#define LIB_DRIVER_LOCALBATCH_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// Fails if the imported model takes another batch than `options.localBatch`: if that is
/// the leading dimension of none of its inputs. Inputs with one row where others have more
/// are the same for all samples.
llvm::LogicalResult checkLocalBatch(mlir::ModuleOp module, const CompilerOptions &options);

} // namespace zero

#endif // LIB_DRIVER_LOCALBATCH_H
