//===- Dft.h - pieces of Fourier transforms ---------------------*- C++ -*-===//

#ifndef LIB_OPS_DFT_H
#define LIB_OPS_DFT_H

#include "zero/Ops/OpTable.h"

namespace zero::ops {

/// The matrix of a transform of `length`, of numbers of one part (real) or two (complex).
struct DftMatrix {
  int64_t length, partsIn, partsOut;
  bool inverse;  ///< and divided by the length
  bool mirrored; ///< numbers up to the middle also represent their mirror images
};

/// The matrix from `taken` numbers to `made` ones: [taken partsIn, made partsOut].
mlir::Value dftMatrixNode(NodeBuilder &builder, const DftMatrix &matrix, int64_t taken,
                          int64_t made, mlir::Type element);

/// `value` [rows, B, A, 2] with number (b, a) rotated by b a / length of a full rotation:
/// backwards, or forwards if `inverse`.
mlir::Value dftTurnNode(NodeBuilder &builder, mlir::Value value, int64_t length, bool inverse);

} // namespace zero::ops

#endif // LIB_OPS_DFT_H
