//===- Overwrite.h - whether an operand's bytes may be taken ----*- C++ -*-===//

#ifndef LIB_ANALYSIS_OVERWRITE_H
#define LIB_ANALYSIS_OVERWRITE_H

#include "mlir/IR/Value.h"

namespace zero {

/// Whether the op that reads `operand` may write to its bytes: nobody else reads them
/// then or later, under any shape or as part of a bucket, and they are made anew in
/// each turn. Later reads of a persistent symbol are `zero-verify-state-order`'s to refuse.
bool mayOverwrite(mlir::OpOperand &operand);

} // namespace zero

#endif // LIB_ANALYSIS_OVERWRITE_H
