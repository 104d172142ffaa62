//===- Random.h - nodes that draw random numbers ----------------*- C++ -*-===//

#ifndef ZERO_OPS_RANDOM_H
#define ZERO_OPS_RANDOM_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// Whether the operator of `node` draws random numbers, possibly only in training mode.
bool drawsRandom(onnx::NodeOp node);

/// The number that distinguishes a node of this name from other nodes that draw: a hash of the
/// name, so that a change at one end of a graph does not change the random numbers of the rest.
uint32_t randomNodeNumber(llvm::StringRef name);

} // namespace zero

#endif // ZERO_OPS_RANDOM_H
