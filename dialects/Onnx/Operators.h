//===- Operators.h - names of ONNX's operators ------------------*- C++ -*-===//
// Operators.def lists the names. An operator that is not listed is named only in the file that
// registers it. Only readers and writers of programs, definitions of operators and passes that
// recognise patterns of them may include this file; the others ask for functions
// (zero/Ops/Function.h).
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ONNX_OPERATORS_H
#define DIALECTS_ONNX_OPERATORS_H

#include "dialects/Onnx/OwnOperators.h"

namespace zero::op {
#define ONNX_OPERATOR(name) inline constexpr onnx::Operator name{"", #name};
#include "dialects/Onnx/Operators.def"
} // namespace zero::op

#endif // DIALECTS_ONNX_OPERATORS_H
