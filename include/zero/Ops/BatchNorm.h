//===- BatchNorm.h - BatchNormalization in training mode --------*- C++ -*-===//

#ifndef ZERO_OPS_BATCHNORM_H
#define ZERO_OPS_BATCHNORM_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// Whether `node` is a BatchNormalization that takes its statistics from the batch;
/// then its results 1 and 2 are the next running mean and variance of operands 3
/// and 4.
bool trainsBatchNorm(onnx::NodeOp node);

} // namespace zero

#endif // ZERO_OPS_BATCHNORM_H
