//===- Random.h - which nodes draw random numbers ---------------*- C++ -*-===//

#ifndef ZERO_OPS_RANDOM_H
#define ZERO_OPS_RANDOM_H

#include "dialects/Onnx/Onnx.h"

namespace zero {

/// Whether `node` is of an operator of ONNX that draws random numbers, be it only in
/// training mode.
bool drawsRandom(onnx::NodeOp node);

/// The number by which a node of this name is told from the others that draw: a hash of
/// the name, so that editing one end of a graph leaves the numbers of the other.
uint32_t randomNodeNumber(llvm::StringRef name);

} // namespace zero

#endif // ZERO_OPS_RANDOM_H
