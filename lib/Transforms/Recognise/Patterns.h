//===- Patterns.h - common functions of recognisers -------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_RECOGNISE_PATTERNS_H
#define LIB_TRANSFORMS_RECOGNISE_PATTERNS_H

#include "zero/Ops/NodeBuilder.h"
#include "zero/Transforms/Recognise/Passes.h"

namespace zero::patterns {

/// The node that makes `value`, if it is one of operator `type`.
onnx::NodeOp nodeOf(mlir::Value value, onnx::Operator type);

/// Whether `op`, which may be null, is a node of operator `type`.
bool isNode(mlir::Operation *op, onnx::Operator type);

/// The number that all elements of a constant equal.
std::optional<double> numberOf(mlir::Value value);

/// Whether `got` is `exact` up to its rounding to f32.
bool isNumber(double got, double exact);

/// The only node that uses `value`, once, if it is one of `types`.
onnx::NodeOp soleUser(mlir::Value value, llvm::ArrayRef<onnx::Operator> types);

/// Whether `node`, which may be null, is a Transpose that swaps just the last two dimensions.
bool swapsLastTwo(onnx::NodeOp node);

/// The only axis of a reduction that keeps its dimensions; nothing if `node`, which may be null, is
/// another one.
std::optional<int64_t> soleAxis(onnx::NodeOp node);

/// The operand that `node` hands on as it is, if that is all it does: to the same
/// shape or type, times one, without dropping anything.
mlir::Value passedOn(onnx::NodeOp node);

/// The operand of a node of two that is not `value`.
mlir::Value otherInput(onnx::NodeOp node, mlir::Value value);

/// Whether `type`, aligned to the last dimensions, broadcasts to `to` without
/// enlarging it.
bool broadcastsTo(mlir::Type type, mlir::RankedTensorType to);

/// Puts a node of operator `type` in the place of `root`'s only result.
onnx::NodeOp replaceRoot(onnx::NodeOp root, onnx::Operator type, mlir::ValueRange inputs,
                         llvm::ArrayRef<mlir::NamedAttribute> attrs, int64_t opset);

/// Erases the unused nodes of `function`.
void eraseUnused(mlir::func::FuncOp function);

/// Calls `visit` with each node of the operators `types` that `function` has before the first call,
/// in order, and then erases unused nodes.
void forEachNode(mlir::func::FuncOp function, llvm::ArrayRef<onnx::Operator> types,
                 llvm::function_ref<void(onnx::NodeOp)> visit);

/// Reports to the log of decisions that `node` replaces the recognized pattern.
void remarkFound(onnx::NodeOp node, const llvm::Twine &what);

} // namespace zero::patterns

#endif // LIB_TRANSFORMS_RECOGNISE_PATTERNS_H
