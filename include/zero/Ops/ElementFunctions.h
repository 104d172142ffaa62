//===- ElementFunctions.h - functions of elements that ONNX lacks -*- C++ -*-===//

#ifndef ZERO_OPS_ELEMENTFUNCTIONS_H
#define ZERO_OPS_ELEMENTFUNCTIONS_H

#include "dialects/Onnx/Onnx.h"

namespace zero::ops {

/// Whether `node` is of the domain zero and computes, like ONNX's elementwise operators, each
/// element from the broadcast elements of its operands, whatever its position.
bool isElementFunction(onnx::NodeOp node);

} // namespace zero::ops

#endif // ZERO_OPS_ELEMENTFUNCTIONS_H
