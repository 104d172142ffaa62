//===- AttentionChain.h - the nodes around one Softmax ---------*- C++ -*-===//
//
// From a Softmax upwards: what is added to its operand, or selected into it, are
// masks; a number it is scaled by; and the product of queries and keys. Downwards:
// the guard that exporters put behind it, Where(IsNaN(p), 0, p), the product with
// the values, and the gradient, in a program that brings its backward pass.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_ATTENTIONCHAIN_H
#define LIB_TRANSFORMS_RECOGNISE_ATTENTIONCHAIN_H

#include "AttentionGradient.h"
#include "AttentionMasks.h"

namespace zero {

/// The chain around one Softmax.
class AttentionChain {
public:
  AttentionChain(onnx::NodeOp softmax, MaskValues &values) : softmax(softmax), values(values) {}

  /// Replaces the chain by a composite, or leaves it.
  void recognise();

private:
  bool start();
  void climb();
  bool climbOnce();
  bool takeSum(onnx::NodeOp sum);
  bool takeChoice(onnx::NodeOp choice);
  bool isOnlyRead(mlir::Value value) const;
  void findGuardOfRows();
  void findGuard();
  bool isTestedForNaN();
  bool findProducts();
  bool readUses();
  mlir::Value asHeads(NodeBuilder &builder, const HeadRows &rows);
  mlir::Value withoutRepeats(NodeBuilder &builder, mlir::Value value, int64_t &times);
  void foldRepeats(NodeBuilder &builder, mlir::Value &key, mlir::Value &value);
  llvm::SmallVector<mlir::NamedAttribute> attributes(NodeBuilder &builder, double factor);
  void replaceAll();
  void replaceSoftmax();
  void remark(onnx::NodeOp made, llvm::StringRef what);

  onnx::NodeOp softmax;
  MaskValues &values;
  /// [batch, heads, queries, keys], where masks are seen.
  mlir::RankedTensorType type;
  std::optional<AttentionMasks> masks;
  mlir::Value scores; ///< input of the softmax, scaled and masked
  double scale = 1;
  onnx::NodeOp root; ///< the softmax or its guard
  bool guarded = false;
  onnx::NodeOp guardTest; ///< what a guard reads of the scores
  llvm::SmallVector<ScoresChoice> choices;
  AttentionOperands operands;
  onnx::NodeOp second;     ///< the product with the values; null if only backward has one
  bool transposed = false; ///< its result
  std::optional<AttentionGradient> gradient;
};

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_ATTENTIONCHAIN_H
