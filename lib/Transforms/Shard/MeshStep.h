//===- MeshStep.h - the step that a mesh divides ----------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SHARD_MESHSTEP_H
#define LIB_TRANSFORMS_SHARD_MESHSTEP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// The step that the mesh `text` divides along `axis`, whose module then has the mesh; null if
/// there is one rank along it. Fails after an error: the text is no mesh, or the step already
/// contains its gradients, so that --mesh cannot do `what` it would, such as "shard it".
llvm::FailureOr<mlir::func::FuncOp> findDividedStep(mlir::ModuleOp module, llvm::StringRef text,
                                                    llvm::StringRef axis, llvm::StringRef what);

} // namespace zero

#endif // LIB_TRANSFORMS_SHARD_MESHSTEP_H
