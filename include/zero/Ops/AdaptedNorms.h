//===- AdaptedNorms.h - norms of adapted weights ----------------*- C++ -*-===//

#ifndef ZERO_OPS_ADAPTEDNORMS_H
#define ZERO_OPS_ADAPTEDNORMS_H

#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// For each output, the norm of the weights in `w` plus `scale` times the product of `b`, of
/// [outputs, size], and `a`, of [size, inputs] (DoRA, Liu et al., arXiv 2402.09353). `inputDim` is
/// the dimension of `w` that is summed over in products. Gradients do not pass the norms.
mlir::Value adaptedNorms(NodeBuilder &nodes, mlir::Value w, unsigned inputDim, mlir::Value a,
                         mlir::Value b, double scale);

} // namespace zero

#endif // ZERO_OPS_ADAPTEDNORMS_H
