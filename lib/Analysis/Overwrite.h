//===- Overwrite.h - whether operands may be overwritten --------*- C++ -*-===//

#ifndef LIB_ANALYSIS_OVERWRITE_H
#define LIB_ANALYSIS_OVERWRITE_H

#include "mlir/IR/Value.h"

namespace zero {

/// Whether the op that reads `operand` may overwrite its bytes: no other op reads them then or
/// later, under any shape or as part of a bucket, and they are computed in each iteration.
/// `zero-verify-state-order` reports later reads of a persistent symbol.
bool mayOverwrite(mlir::OpOperand &operand);

} // namespace zero

#endif // LIB_ANALYSIS_OVERWRITE_H
