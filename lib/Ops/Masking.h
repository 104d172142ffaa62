//===- Masking.h - scores under masks and their softmax ---------*- C++ -*-===//
//
// What zero::MaskedSoftmax and zero::Attention have in common: the attributes
// scale, causal, offset, window, prefix, fill and guard, and the operands that mask,
// which MaskedSoftmax.cpp describes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_MASKING_H
#define LIB_OPS_MASKING_H

#include "Lowering.h"

namespace zero::ops {

/// One masked softmax under construction, along the last of the dimensions [batch,
/// heads, queries, keys].
class Masking {
public:
  /// The attributes are those of `node`; `scores` is the shape of the loops.
  Masking(onnx::NodeOp node, mlir::OpBuilder &builder, mlir::RankedTensorType scores);

  /// `raw` scaled and under `masks`: padding, mask, segments of queries and of keys. Each may be
  /// null or missing.
  mlir::Value scores(mlir::Value raw, mlir::ValueRange masks);
  /// The largest score of each row.
  mlir::Value top(mlir::Value scores);
  /// exp(scores - top); where a row is guarded and without a key, zeros.
  mlir::Value powers(mlir::Value scores, mlir::Value top);
  /// powers / sum, `sum` being one value per row; zeros stay zeros where guarded.
  mlir::Value normalized(mlir::Value powers, mlir::Value sum);
  /// The logarithm of the sum of exp of a row: top + log(sum); plus infinity where a
  /// row is guarded and without a key, so that exp(score - it) is zero.
  mlir::Value logSumExp(mlir::Value top, mlir::Value sum);
  /// scale weights (dy - sum(dy weights)), where `dot` is that sum per row.
  mlir::Value slope(mlir::Value dy, mlir::Value weights, mlir::Value dot);
  /// The sum of a b per row.
  mlir::Value rowDot(mlir::Value a, mlir::Value b);
  /// A pass over full tensors and row values, alternately.
  mlir::Value pass(mlir::ValueRange operands, Body body);

  mlir::ImplicitLocOpBuilder b;

private:
  mlir::AffineMap positionsMap(mlir::RankedTensorType operand, int64_t dim);
  mlir::Value element(mlir::ImplicitLocOpBuilder &in, mlir::Value score, mlir::ValueRange masks);
  mlir::Value hide(mlir::ImplicitLocOpBuilder &in, mlir::Value score, mlir::Value shown);
  mlir::Value isInReach(mlir::ImplicitLocOpBuilder &in);

  mlir::RankedTensorType type;
  int64_t last;
  mlir::AffineMap perRow;
  double scale, fill;
  bool causal;
  int64_t offset, window, prefix;
  bool guard;
};

/// `grad`, of scores, summed to a padding of `type`, [batch or 1, keys].
mlir::Value sumToPadding(NodeBuilder &builder, mlir::Value grad, mlir::RankedTensorType type);

} // namespace zero::ops

#endif // LIB_OPS_MASKING_H
