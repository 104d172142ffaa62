//===- groups.h - ranks that exchange, and stretches of bytes ---*- C++ -*-===//

#ifndef CHECK_GROUPS_H
#define CHECK_GROUPS_H

#include "check/executable.h"
#include "check/memory.h"

#include <functional>

namespace zero::check {

/// The axes of a collective that have several ranks, in its order: all if it names none.
std::vector<uint32_t> axesOf(const proto::Program &program, const proto::Collective &collective);

/// All axes but some.
std::vector<uint32_t> othersThan(const std::vector<uint32_t> &axes, const proto::Program &program);

/// Ranks that differ along some axes only, in their order.
using Group = std::vector<int>;
/// By an index along the other axes.
std::map<int, Group> groupsOf(const Executable &executable, const std::vector<uint32_t> &axes);

/// The type of a sum, that of its additions, and whether it is divided by the number of summands.
struct SumType {
  proto::DType dtype = proto::F32, arithmetic = proto::F32;
  bool mean = false;
};

/// How ranks that differ along some axes are added: over which axes those of a node, then nodes.
struct Levels {
  Levels(const proto::Program &program, const std::vector<uint32_t> &axes);
  /// The sum over the ranks of what `part` is on each.
  Slice sum(Terms &terms, SumType type, Slice part) const;

  Terms::Ranks inner, outer;
  int64_t count = 1; ///< of ranks
};

/// Of each operand the slices that a stretch of elements is in.
using Stretch = std::vector<Slices>;

/// Calls body(parts, elements) for stretches of elements that are in one slice of each of `values`,
/// whose elements have `widths` bytes. An element that is in several slices is a stretch of its
/// own.
void forEachStretch(const std::vector<const Slices *> &values, const std::vector<int64_t> &widths,
                    const std::function<void(const Stretch &parts, int64_t elements)> &body);
/// What body(parts) is in all stretches, if all elements have `width` bytes.
Slices overStretches(const std::vector<const Slices *> &values, int64_t width,
                     const std::function<Slice(const Stretch &parts)> &body);

} // namespace zero::check

#endif // CHECK_GROUPS_H
