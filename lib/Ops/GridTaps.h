//===- GridTaps.h - pixels that contribute to a place -----------*- C++ -*-===//
//
// GridSample and its gradients look at the same few pixels around a place. Here they are
// found, one dimension after the other, without branches, as code inside a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_GRIDTAPS_H
#define LIB_OPS_GRIDTAPS_H

#include "Lowering.h"

namespace zero::ops {

/// How a grid samples images of `extents`, in the words of ONNX's GridSample.
struct Sampler {
  enum class Mode { Nearest, Linear, Cubic };
  enum class Padding { Zeros, Border, Reflection };
  llvm::SmallVector<int64_t> extents;
  Mode mode = Mode::Linear;
  Padding padding = Padding::Zeros;
  bool alignCorners = false;

  /// Pixels of one dimension that a place touches.
  int64_t width() const { return mode == Mode::Nearest ? 1 : mode == Mode::Linear ? 2 : 4; }
};

/// A pixel that contributes to a place: its index in the image, row by row, and its weight.
struct PixelTap {
  mlir::Value offset; ///< index, always inside of the image
  mlir::Value weight; ///< float
  mlir::Value inside; ///< i1, or null: false where there is no pixel
  /// By dimension: how the weight changes with the grid's coordinate of that dimension.
  llvm::SmallVector<mlir::Value> slopes;
};

/// The pixels around the place with the grid's coordinates `place`, one number in about
/// [-1, 1] for each dimension of the image, first dimension first. Slopes are made only
/// if `wantSlopes`.
llvm::SmallVector<PixelTap> pixelTaps(mlir::ImplicitLocOpBuilder &b, const Sampler &sampler,
                                      mlir::ValueRange place, bool wantSlopes);

} // namespace zero::ops

#endif // LIB_OPS_GRIDTAPS_H
