//===- OwnOperators.h - names of operators that are not ONNX's --*- C++ -*-===//
// The compiler's own operators, which passes make and rewrite, and those of a training graph.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ONNX_OWNOPERATORS_H
#define DIALECTS_ONNX_OWNOPERATORS_H

#include "dialects/Onnx/Onnx.h"

namespace zero::training {
#define ONNX_TRAINING_OPERATOR(name)                                                               \
  inline constexpr onnx::Operator name{onnx::kTrainingDomain, #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::training

namespace zero::own {
#define OWN_OPERATOR(name) inline constexpr onnx::Operator name{onnx::kZeroDomain, #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::own

#endif // DIALECTS_ONNX_OWNOPERATORS_H
