//===- Operators.h - names of operators for passes --------------*- C++ -*-===//
// Operators.def lists the names. An operator that is not listed is named only in the file that
// registers it.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ONNX_OPERATORS_H
#define DIALECTS_ONNX_OPERATORS_H

#include "dialects/Onnx/Onnx.h"

namespace zero::op {
#define ONNX_OPERATOR(name) inline constexpr onnx::Operator name{"", #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::op

namespace zero::training {
#define ONNX_TRAINING_OPERATOR(name)                                                               \
  inline constexpr onnx::Operator name{onnx::kTrainingDomain, #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::training

namespace zero::own {
#define OWN_OPERATOR(name) inline constexpr onnx::Operator name{onnx::kZeroDomain, #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::own

#endif // DIALECTS_ONNX_OPERATORS_H
