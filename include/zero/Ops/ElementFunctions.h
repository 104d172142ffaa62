//===- ElementFunctions.h - functions of elements that ONNX lacks -*- C++ -*-===//

#ifndef ZERO_OPS_ELEMENTFUNCTIONS_H
#define ZERO_OPS_ELEMENTFUNCTIONS_H

#include "dialects/Onnx/Onnx.h"

namespace zero::own {
inline constexpr onnx::Operator Atan2{onnx::kZeroDomain, "Atan2"};
inline constexpr onnx::Operator Cbrt{onnx::kZeroDomain, "Cbrt"};
inline constexpr onnx::Operator Erfc{onnx::kZeroDomain, "Erfc"};
inline constexpr onnx::Operator ErfInv{onnx::kZeroDomain, "ErfInv"};
inline constexpr onnx::Operator Log2{onnx::kZeroDomain, "Log2"};
inline constexpr onnx::Operator StopGradient{onnx::kZeroDomain, "StopGradient"};
inline constexpr onnx::Operator FirstGradient{onnx::kZeroDomain, "FirstGradient"};
} // namespace zero::own

namespace zero::ops {

/// Whether `node` is of the domain zero and computes, like ONNX's elementwise operators, each
/// element from the broadcast elements of its operands, whatever its position.
bool isElementFunction(onnx::NodeOp node);

} // namespace zero::ops

#endif // ZERO_OPS_ELEMENTFUNCTIONS_H
