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

/// The domain of the operators that only this compiler makes: gradients of composites and the
/// like. Each is documented in the file that registers it.
inline constexpr llvm::StringLiteral kZeroDomain = "zero";

/// What a node computes, as its `domain` and `op_type` say. The domain of ai.onnx is "".
struct Operator {
  llvm::StringRef domain, type;
  bool operator==(const Operator &) const = default;
};

} // namespace zero::onnx

#define GET_OP_CLASSES
#include "dialects/Onnx/OnnxOps.h.inc"

namespace zero::onnx {
/// `type` with signless integers where they are unsigned: what kernels compute
/// on, since upstream's arithmetic has the sign in its operations.
mlir::RankedTensorType signless(mlir::RankedTensorType type);
} // namespace zero::onnx

#endif // DIALECTS_ONNX_ONNX_H
