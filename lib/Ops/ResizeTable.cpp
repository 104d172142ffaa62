//===- ResizeTable.cpp - sources of elements of a resized axis ------------===//

#include "ResizeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>

namespace zero::ops {

/// A weight below this is a rounding error of zero.
static constexpr double kNoWeight = 1e-13;

size_t TapTable::width() const {
  size_t most = 1;
  for (const Taps &taps : rows)
    most = std::max(most, taps.size());
  return most;
}

TapTable TapTable::transposed(int64_t extent) const {
  TapTable table{std::vector<Taps>(extent), llvm::BitVector(extent)};
  for (auto [output, taps] : llvm::enumerate(rows))
    for (const Tap &tap : taps)
      table.rows[tap.index].push_back({int64_t(output), tap.weight});
  return table;
}

/// The factor by which an antialiasing kernel is stretched: only where elements get fewer.
static double stretch(const AxisResize &axis) { return std::min(axis.scale, 1.0); }

/// The first neighbour of an antialiasing kernel, counted from the one on the left.
static int64_t firstNeighbour(const AxisResize &axis) {
  double radius = axis.mode == "cubic" ? 2 : 1;
  return int64_t(std::floor(-radius / stretch(axis))) + 1;
}

int64_t footprint(const AxisResize &axis) {
  if (axis.antialias && axis.mode != "nearest") {
    // Radii beyond the limit come to no more than it.
    if (!(stretch(axis) > 4.0 / double(kMostTaps)))
      return kMostTaps + 1;
    return 2 - 2 * firstNeighbour(axis);
  }
  return axis.mode == "cubic" ? 4 : 2;
}

/// The position of element `output` on the axis before resizing.
static double sourceOf(const AxisResize &axis, double output) {
  double width = axis.scale * double(axis.input), last = double(axis.input - 1);
  if (axis.coordinates == "align_corners")
    return width == 1 ? 0 : output * last / (width - 1);
  if (axis.coordinates == "asymmetric")
    return output / axis.scale;
  if (axis.coordinates == "tf_crop_and_resize") {
    double part = axis.roiEnd - axis.roiBegin;
    double offset = width == 1 ? part * last / 2 : output * part * last / (width - 1);
    return offset + axis.roiBegin * last;
  }
  if (axis.coordinates == "pytorch_half_pixel" && width == 1)
    return -0.5;
  double source = (output + 0.5) / axis.scale - 0.5;
  if (axis.coordinates != "half_pixel_symmetric")
    return source;
  return double(axis.input) / 2 * (1 - double(axis.output) / width) + source;
}

/// Keys' kernel at distance `x`.
static double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Whether the right one of two neighbours is nearest. Its distance is 1 - `ratio`.
static bool isRightNearest(llvm::StringRef mode, double ratio) {
  if (ratio == 1)
    return true;
  if (mode == "floor")
    return false;
  return mode == "ceil" || (mode == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5);
}

/// The weights of the neighbours of a place `ratio` right of the left one, in (0, 1].
static llvm::SmallVector<double> weightsAt(const AxisResize &axis, double ratio) {
  if (axis.mode == "nearest") {
    bool isRight = isRightNearest(axis.nearest, ratio);
    return {isRight ? 0.0 : 1.0, isRight ? 1.0 : 0.0};
  }
  double factor = axis.antialias ? stretch(axis) : 1;
  int64_t first = axis.antialias ? firstNeighbour(axis) : axis.mode == "cubic" ? -1 : 0;
  llvm::SmallVector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < footprint(axis); ++i) {
    double distance = factor * (double(first + i) - ratio);
    weights.push_back(axis.mode == "cubic" ? cubic(distance, axis.cubicA)
                                           : std::max(1 - std::abs(distance), 0.0));
    sum += weights.back();
  }
  if (axis.antialias)
    for (double &weight : weights)
      weight /= sum;
  return weights;
}

/// Gives weights of neighbours outside of `axis` to those inside.
static void excludeOutside(const AxisResize &axis, int64_t first,
                           llvm::MutableArrayRef<double> weights) {
  double sum = 0;
  for (auto [i, weight] : llvm::enumerate(weights)) {
    int64_t index = first + int64_t(i);
    weight = index < 0 || index >= axis.input ? 0 : weight;
    sum += weight;
  }
  if (sum != 0)
    for (double &weight : weights)
      weight /= sum;
}

static Taps tapsAt(const AxisResize &axis, double source) {
  auto left = int64_t(std::floor(source));
  double ratio = source - double(left);
  // ONNX counts a place on an element to the gap before it.
  if (ratio == 0) {
    ratio = 1;
    --left;
  }
  llvm::SmallVector<double> weights = weightsAt(axis, ratio);
  int64_t first = left + 1 - int64_t(weights.size()) / 2;
  if (axis.excludeOutside)
    excludeOutside(axis, first, weights);
  Taps taps;
  for (auto [i, weight] : llvm::enumerate(weights)) {
    // The first and last elements go on for ever.
    int64_t index = std::clamp<int64_t>(first + int64_t(i), 0, axis.input - 1);
    if (!taps.empty() && taps.back().index == index)
      taps.back().weight += weight;
    else
      taps.push_back({index, weight});
  }
  llvm::erase_if(taps, [](const Tap &tap) { return std::abs(tap.weight) < kNoWeight; });
  return taps;
}

TapTable makeTable(const AxisResize &axis) {
  TapTable table{{}, llvm::BitVector(axis.output)};
  bool crops = axis.coordinates == "tf_crop_and_resize";
  for (int64_t output = 0; output < axis.output; ++output) {
    double source = sourceOf(axis, double(output));
    bool isOutside = crops && !(source >= 0 && source <= double(axis.input - 1));
    if (isOutside)
      table.outside.set(output);
    // Further out it is the last element all the same.
    source = std::clamp(source, -double(axis.input) - double(kMostTaps),
                        2 * double(axis.input) + double(kMostTaps));
    table.rows.push_back(isOutside ? Taps() : tapsAt(axis, source));
  }
  return table;
}

} // namespace zero::ops
