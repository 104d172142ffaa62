//===- Operators.h - operators that passes name -----------------*- C++ -*-===//
//
// Operators.def lists them: each name stands there, or where it is registered, and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ONNX_OPERATORS_H
#define DIALECTS_ONNX_OPERATORS_H

#include "dialects/Onnx/Onnx.h"

namespace zero::op {
#define ONNX_OPERATOR(name) inline constexpr onnx::Operator name{"", #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::op

namespace zero::own {
#define OWN_OPERATOR(name) inline constexpr onnx::Operator name{onnx::kZeroDomain, #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::own

#endif // DIALECTS_ONNX_OPERATORS_H
