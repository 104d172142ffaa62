//===- WritePlainly.h - nodes in terms of other nodes -----------*- C++ -*-===//
//
// A node of the zero dialect's operators, such as a fused gradient, can be written in operators of
// ONNX: by a rule, or as its lowering computes it. --emit-onnx writes such nodes, and
// differentiation needs them where an operator has no gradient rule of its own.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_TRANSFORMS_PROGRAM_WRITEPLAINLY_H
#define ZERO_TRANSFORMS_PROGRAM_WRITEPLAINLY_H

#include "zero/Ops/OpTable.h"

namespace zero {

/// Whether `node` is an operator of the emitted opset, though perhaps in an older form.
bool isPlain(onnx::NodeOp node);

/// Writes `node` in front of it by the rule of its operator; appends nothing if it has none.
llvm::LogicalResult writeByRule(onnx::NodeOp node, NodeBuilder &nodes,
                                llvm::SmallVectorImpl<mlir::Value> &results);

/// Who reads the plain form of a node.
enum class PlainUse {
  Emit,          ///< a graph of ONNX, which has no operator that stops a run: checks are dropped
  Differentiate, ///< the program: operators with gradients of the zero dialect are plain, and a
                 ///< node with checks has no form
};

/// Writes `node` in front of it in other nodes: by its rule, else as its lowering computes it.
/// Returns one value for each result, null for a result that nothing uses. Fails without an error
/// if there is no such form; then nothing is written, and `lacking` is the name of the op in the
/// lowering that has no node, or empty.
llvm::FailureOr<llvm::SmallVector<mlir::Value>> writePlainly(onnx::NodeOp node, PlainUse use,
                                                             std::string &lacking);

} // namespace zero

#endif // ZERO_TRANSFORMS_PROGRAM_WRITEPLAINLY_H
