//===- ScatterNodes.h - scatters and scans of torch-mlir --------*- C++ -*-===//

#ifndef ZERO_PROGRAMS_LINALG_SCATTERNODES_H
#define ZERO_PROGRAMS_LINALG_SCATTERNODES_H

#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// The values that nodes compute for the results of `op`, of the dialect tm_tensor or a gather or
/// scatter of the dialect tensor; fails if it has no equivalent. A result that nothing uses may be
/// null.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> scatterNodes(mlir::Operation *op,
                                                             NodeBuilder &nodes);

} // namespace zero

#endif // ZERO_PROGRAMS_LINALG_SCATTERNODES_H
