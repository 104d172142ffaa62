//===- Onnx.h - the onnx dialect --------------------------------*- C++ -*-===//

#ifndef DIALECTS_ONNX_ONNX_H
#define DIALECTS_ONNX_ONNX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>
#include <string>

#include "dialects/Onnx/OnnxDialect.h.inc"

namespace zero::onnx {

/// The domain of operators that only this compiler creates, such as gradients of composites. The
/// file that registers an operator documents it.
inline constexpr llvm::StringLiteral kZeroDomain = "zero";
/// The domain of ONNX's operators for training.
inline constexpr llvm::StringLiteral kTrainingDomain = "ai.onnx.preview.training";

/// The operator of a node: its `domain` and `op_type`. The domain of ai.onnx is "".
struct Operator {
  llvm::StringRef domain, type;
  bool operator==(const Operator &) const = default;
};

} // namespace zero::onnx

#define GET_OP_CLASSES
#include "dialects/Onnx/OnnxOps.h.inc"

namespace zero::onnx {
/// `type` with signless integers instead of unsigned ones: the type that kernels compute on, since
/// the arithmetic dialect of upstream has the signedness in its operations.
mlir::RankedTensorType signless(mlir::RankedTensorType type);
} // namespace zero::onnx

#endif // DIALECTS_ONNX_ONNX_H
