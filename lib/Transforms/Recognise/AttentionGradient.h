//===- AttentionGradient.h - the backward pass of one attention -*- C++ -*-===//
//
// In a program that brings its backward pass, with o = w v, w = softmax(scale q k^T + masks), and
// do the gradient of o:
//   dv = w^T do, dw = do v^T, ds = SoftmaxGrad(dw, w), dq = scale ds k, dk = scale ds^T q
// (Dao et al., FlashAttention, arXiv 2205.14135, appendix B.2). They become one
// zero::AttentionGrad, so that neither w nor its gradients are stored.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_ATTENTIONGRADIENT_H
#define LIB_TRANSFORMS_RECOGNISE_ATTENTIONGRADIENT_H

#include "AttentionProducts.h"

namespace zero {

/// A boolean by which scores were selected: they show where it is true, or false if `negated`.
struct ScoresChoice {
  mlir::Value condition;
  bool negated;
};

/// What the forward pass of an attention reads.
struct AttentionOperands {
  HeadRows query, key, value;
  double scale; ///< of query key^T
  llvm::ArrayRef<ScoresChoice> choices;
};

/// The nodes of the gradient of one attention.
class AttentionGradient {
public:
  explicit AttentionGradient(ConstantValues &values) : values(values) {}

  /// Takes up what reads the weights at `uses`; false if that is not a gradient.
  bool read(llvm::ArrayRef<mlir::OpOperand *> uses);
  /// Whether it is the gradient of an attention of `operands`.
  bool matches(const AttentionOperands &operands);
  /// Whether the gradients of keys and values are only summed over groups of `times` neighbouring
  /// heads. If so, the sums are taken up instead of them.
  bool takeSums(int64_t times);

  const HeadRows &getValues() const { return slope->right; }
  /// The first node that reads the gradient of the attention's result.
  onnx::NodeOp getFirst() const;
  /// Replaces the nodes. `attention`, the forward pass, is before getFirst().
  void replace(onnx::NodeOp attention);

private:
  /// A gradient of queries, keys or values.
  struct Result {
    onnx::NodeOp node; ///< null: not computed
    bool transposed = false;
    double factor = 1; ///< of the gradient
  };
  bool climbDown(llvm::ArrayRef<ScoresChoice> choices);
  bool isChosen(onnx::NodeOp choice, llvm::ArrayRef<ScoresChoice> choices) const;
  bool takeScoresUse(mlir::OpOperand &use, const AttentionOperands &operands);
  std::optional<Result> sumOf(Result result, int64_t times);

  ConstantValues &values;
  onnx::NodeOp softmax;               ///< the SoftmaxGrad
  std::optional<ScoresProduct> slope; ///< do v^T
  std::optional<MixingProduct> mixed; ///< w^T do
  mlir::Value scores;                 ///< ds, scaled
  double scale = 1;                   ///< of ds
  std::array<Result, 3> results;
};

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_ATTENTIONGRADIENT_H
