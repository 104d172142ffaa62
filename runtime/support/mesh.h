//===- mesh.h - the mesh of ranks -------------------------------*- C++ -*-===//
//
// Ranks are numbered along the axes of a mesh, of which the first is the outermost: with
// coordinates c0, c1, c2 the rank is (c0 * size1 + c1) * size2 + c2.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_MESH_H
#define RUNTIME_SUPPORT_MESH_H

#include <array>
#include <cstdint>
#include <vector>

namespace zero::rt {

inline constexpr int kMostAxes = 6;

/// A number for each axis. Those that a mesh does not have are 0.
using PerAxis = std::array<int64_t, kMostAxes>;

/// A set of axes, by bit.
using AxisSet = uint32_t;
inline constexpr AxisSet kAllAxes = ~AxisSet(0); ///< of any mesh

class Mesh {
public:
  /// One rank.
  Mesh() { sizes.fill(1), steps.fill(1); }
  /// Of at most kMostAxes sizes, each at least 1, whose product is an int.
  template <typename Sizes>
  explicit Mesh(const Sizes &list) : Mesh() {
    for (auto size : list)
      sizes[size_t(count++)] = int(size);
    for (int axis = count; axis-- > 0; all *= sizes[size_t(axis)])
      steps[size_t(axis)] = all;
  }
  /// A single axis.
  static Mesh line(int ranks) { return Mesh(std::array<int, 1>{ranks}); }

  int ranks() const { return all; }
  int axes() const { return count; }
  int size(int axis) const { return sizes[size_t(axis)]; }
  /// The difference between the numbers of ranks that are neighbours along `axis`.
  int step(int axis) const { return steps[size_t(axis)]; }
  int coordinate(int rank, int axis) const { return rank / step(axis) % size(axis); }

  /// Those of `axes` along which ranks differ.
  AxisSet proper(AxisSet axes) const {
    AxisSet set = 0;
    for (int axis = 0; axis < count; ++axis)
      if (size(axis) > 1)
        set |= axes & (AxisSet(1) << axis);
    return set;
  }
  /// The number of shares of what is cut over `axes`, a list of indices.
  template <typename Axes>
  int shares(const Axes &axes) const {
    int product = 1;
    for (auto axis : axes)
      product *= size(int(axis));
    return product;
  }
  /// The number of the share of `rank`. The first axis of the list is the outermost.
  template <typename Axes>
  int share(const Axes &axes, int rank) const {
    int index = 0;
    for (auto axis : axes)
      index = index * size(int(axis)) + coordinate(rank, int(axis));
    return index;
  }
  /// How many ranks differ from one along `axes` only, itself included.
  int groupSize(AxisSet axes) const {
    int product = 1;
    for (int axis = 0; axis < count; ++axis)
      product *= axes >> axis & 1 ? size(axis) : 1;
    return product;
  }
  /// The sum over the axes of the coordinate of `rank` * stride.
  int64_t shift(const PerAxis &strides, int rank) const {
    int64_t sum = 0;
    for (int axis = 0; axis < count; ++axis)
      sum += coordinate(rank, axis) * strides[size_t(axis)];
    return sum;
  }
  /// The least shift of any rank; and the largest one.
  int64_t leastShift(const PerAxis &strides) const { return extremeShift(strides, -1); }
  int64_t mostShift(const PerAxis &strides) const { return extremeShift(strides, 1); }

private:
  int64_t extremeShift(const PerAxis &strides, int sign) const {
    int64_t sum = 0;
    for (int axis = 0; axis < count; ++axis)
      if (const int64_t last = strides[size_t(axis)] * (size(axis) - 1); last * sign > 0)
        sum += last;
    return sum;
  }

  std::array<int, kMostAxes> sizes, steps;
  int count = 0, all = 1;
};

/// The set of the axes in `list`.
template <typename Axes>
AxisSet axisSet(const Axes &list) {
  AxisSet set = 0;
  for (auto axis : list)
    set |= AxisSet(1) << axis;
  return set;
}

/// The ranks whose coordinates differ from those of one rank along some axes only, by rank.
class RankGroup {
public:
  RankGroup(const Mesh &mesh, AxisSet axes, int rank) {
    int first = rank;
    for (int axis = 0; axis < mesh.axes(); ++axis)
      if (axes >> axis & 1)
        first -= mesh.coordinate(rank, axis) * mesh.step(axis);
    members = {first};
    for (int axis = mesh.axes(); axis-- > 0;)
      if (axes >> axis & 1)
        repeat(mesh.size(axis), mesh.step(axis));
    for (; rankAt(own) != rank; ++own)
      ;
  }

  int size() const { return int(members.size()); }
  /// The index of the rank itself.
  int index() const { return own; }
  int rankAt(int index) const { return members[size_t(index)]; }
  const std::vector<int> &ranks() const { return members; }

private:
  /// Adds `times` - 1 copies, each `step` ranks behind the last.
  void repeat(int times, int step) {
    const size_t before = members.size();
    for (size_t i = before; i < before * size_t(times); ++i)
      members.push_back(members[i - before] + step);
  }

  std::vector<int> members;
  int own = 0;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_MESH_H
