//===- Dropout.h - build nodes that drop elements ---------------*- C++ -*-===//

#ifndef ZERO_OPS_DROPOUT_H
#define ZERO_OPS_DROPOUT_H

#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// `value` with a share `ratio` of its elements set to 0 while the step trains, and the others
/// scaled up.
mlir::Value dropout(NodeBuilder &nodes, mlir::Value value, double ratio);

} // namespace zero

#endif // ZERO_OPS_DROPOUT_H
