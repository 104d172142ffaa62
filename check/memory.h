//===- memory.h - contents of an arena --------------------------*- C++ -*-===//

#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

#include "check/terms.h"

#include <map>
#include <memory>

namespace zero::check {

/// What bytes hold: the same slices on all ranks, or others on each.
class Value {
public:
  Value(Slices all = {}) : lists{std::move(all)} {}
  /// From the slices of each rank.
  explicit Value(std::vector<Slices> ofRanks);

  bool isAlike() const { return lists.size() == 1; }
  const Slices &on(int rank) const { return lists[isAlike() ? 0 : size_t(rank)]; }
  /// One list, or that of each rank.
  const std::vector<Slices> &all() const { return lists; }

private:
  std::vector<Slices> lists;
};

/// Pieces of bytes, by their first one.
template <typename Piece>
struct Pieces {
  std::map<int64_t, Piece> map;

  /// The first piece that ends behind `begin`.
  auto firstFrom(int64_t begin) const {
    auto it = map.upper_bound(begin);
    return it != map.begin() && std::prev(it)->second.end > begin ? std::prev(it) : it;
  }
  /// Divides the pieces that are on both sides of `begin`, or of `end`.
  void cut(int64_t begin, int64_t end) {
    for (int64_t at : {begin, end})
      if (auto it = firstFrom(at); it != map.end() && it->first < at) {
        Piece rest = it->second;
        rest.advance(at - it->first);
        map[it->first].end = at;
        map.emplace(at, std::move(rest));
      }
  }
};

/// The value of each byte of an arena on all ranks, and the command that wrote it.
class Memory {
public:
  /// The values of bytes [begin, begin + size), in as few slices as possible; of those without one,
  /// the term is kNone.
  Value read(int64_t begin, int64_t size) const;
  Slices readOn(int rank, int64_t begin, int64_t size) const;
  void write(int64_t begin, const Value &value, int32_t writer);
  /// The command that wrote the byte, -1 if it was none.
  int32_t writerOf(int64_t place) const;

private:
  struct Piece {
    int64_t end;
    Slice value; ///< kNone: overwritten by `writer` with what is no value
    int32_t writer;
    std::shared_ptr<const std::vector<Slices>> ofRanks; ///< if set, from offset of `value` on

    void advance(int64_t by) {
      value = ofRanks ? Slice{kNone, value.offset + by, 0} : value.from(by);
    }
  };
  Pieces<Piece> pieces;
};

int64_t sizeOf(const Slices &slices);

/// Appends `slice`, as part of the last one if it continues that.
void append(Slices &slices, Slice slice);

/// Bytes [begin, begin + size) of `values`.
Slices sliceOf(const Slices &values, int64_t begin, int64_t size);

} // namespace zero::check

#endif // CHECK_MEMORY_H
