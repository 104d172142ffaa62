//===- Evaluate.h - constants of the IR as plain structs --------*- C++ -*-===//

#ifndef ZERO_OPS_EVALUATE_H
#define ZERO_OPS_EVALUATE_H

#include "dialects/Onnx/Onnx.h"
#include "zero/Evaluate/Evaluator.h"

namespace zero::ops {

/// Nothing for types that nodes do not have: they have f16, bf16, f32, f64, i1, and integers of 8
/// to 64 bits, signless or unsigned.
std::optional<evaluate::ElementType> elementTypeOf(mlir::Type type);
evaluate::Values valuesOf(mlir::DenseElementsAttr elements);
mlir::DenseElementsAttr attrOf(const evaluate::Values &values, mlir::RankedTensorType type);
/// `node` without its operands and results.
evaluate::Node evaluatedNode(onnx::NodeOp node);
/// The results of `node` on `operands` (null: not known), or none if they do not follow. Clears
/// `exact` as evaluate::evaluate() does.
llvm::SmallVector<mlir::DenseElementsAttr>
evaluateNode(onnx::NodeOp node, llvm::ArrayRef<mlir::DenseElementsAttr> operands, bool &exact);

} // namespace zero::ops

#endif // ZERO_OPS_EVALUATE_H
