//===- ResizeTable.h - sources of elements of a resized axis ----*- C++ -*-===//
//
// ONNX resizes one axis after the other. Element o of a resized axis is a weighted sum
// of a few elements of the axis; which ones, and their weights, follow from attributes
// alone. The arithmetic is that of ONNX's reference implementation, in doubles.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_RESIZETABLE_H
#define LIB_OPS_RESIZETABLE_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace zero::ops {

/// How an axis is resized, in the words of ONNX's Resize.
struct AxisResize {
  int64_t input = 1, output = 1; ///< elements of the axis before and after
  double scale = 1;              ///< output / input before rounding
  double roiBegin = 0, roiEnd = 1;
  std::string mode = "nearest";               ///< nearest, linear, cubic
  std::string coordinates = "half_pixel";     ///< coordinate_transformation_mode
  std::string nearest = "round_prefer_floor"; ///< nearest_mode
  double cubicA = -0.75;
  bool antialias = false, excludeOutside = false;
};

struct Tap {
  int64_t index;
  double weight;
};
/// The elements of a sum: indices ascend, and no weight is zero.
using Taps = llvm::SmallVector<Tap, 4>;

/// A linear map of an axis: the taps of each element of its result.
struct TapTable {
  std::vector<Taps> rows;
  /// Elements that mode tf_crop_and_resize takes from outside of the axis. They have no taps.
  llvm::BitVector outside;

  /// The largest number of taps of a row, at least 1.
  size_t width() const;
  /// The adjoint map, to an axis of `extent` elements.
  TapTable transposed(int64_t extent) const;
};

/// The most weights that a table may be computed from.
inline constexpr int64_t kMostTaps = int64_t(1) << 24;

/// The taps that one element of a result has at most, before equal ones are joined.
int64_t footprint(const AxisResize &axis);

/// The table of `axis`, whose modes are known and whose output and footprint do not
/// exceed kMostTaps.
TapTable makeTable(const AxisResize &axis);

} // namespace zero::ops

#endif // LIB_OPS_RESIZETABLE_H
