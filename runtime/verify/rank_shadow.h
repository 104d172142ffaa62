//===- rank_shadow.h - contents of all ranks' bytes -------------*- C++ -*-===//
// Ranks differ in the places of their slices, and there may be thousands. So all ranks are tracked
// together: shared bytes by their place, slices by their place on the first rank,
// separately for each list of strides. On each rank the last write counts; if the last write
// differs between ranks, a reader sees all candidates.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_VERIFY_RANK_SHADOW_H
#define RUNTIME_VERIFY_RANK_SHADOW_H

#include "runtime/verify/shadow.h"

namespace zero::rt {

/// The contents of the arenas of the ranks of `mesh`; of one, if nothing has a stride.
class RankShadow {
public:
  RankShadow(uint64_t bytes, const Mesh &mesh) : bytes(bytes), mesh(mesh), shared(bytes) {}

  void clear();
  /// Dead bytes may have any contents.
  void write(RankRange range, Content content);
  void kill(ByteRange range) { shared.kill(range); }
  /// Like Shadow, on each rank.
  void rename(RankRange range, uint32_t from, uint32_t to, uint64_t origin);

  /// Calls body(ByteRange, const Content &) for all that some rank may have in `range`.
  template <typename Body>
  void forEach(RankRange range, Body body) const {
    if (const Shadow *own = slicesOf(range.strides))
      own->forEach(range, [&](ByteRange part, const Content &slice) {
        forEachVisible({part, range.strides}, slice, body);
      });
    else if (!range.isShared())
      forEachVisible(range, Content(), body);
    else
      shared.forEach(
          range, [&](ByteRange part, const Content &) { forEachVisible(part, Content(), body); });
  }

  /// The bytes that some rank has in both: if they have the same strides, where the first rank has
  /// them.
  ByteRange common(const RankRange &one, const RankRange &other) const;

  uint64_t liveBytes(proto::Tier tier) const { return shared.liveBytes(tier); }
  /// Whether readers find the same in all bytes of all ranks, now and as long as the same is
  /// written.
  bool isSame(const RankShadow &other) const;

private:
  ByteRange reach(const RankRange &range) const { return reachOf(range, mesh); }
  /// The range of slices of `strides` on the first rank that overlap `range` on some rank.
  ByteRange touching(const RankRange &range, PerAxis strides) const {
    for (int64_t &stride : strides)
      stride = -stride;
    return reach({reach(range), strides});
  }
  ByteRange inside(ByteRange range, const PerAxis &strides) const;
  const Shadow *slicesOf(const PerAxis &strides) const {
    auto it = slices.find(strides);
    return it == slices.end() ? nullptr : &it->second;
  }

  /// Calls `body` for each content that may have been written last to `part`. `slice` is the
  /// content that is tracked separately.
  template <typename Body>
  void forEachVisible(const RankRange &part, const Content &slice, Body body) const {
    const int64_t written = slice.live ? int64_t(slice.time) : -1;
    uint64_t oldest = UINT64_MAX;
    shared.forEach(reach(part), [&](ByteRange, const Content &content) {
      oldest = std::min(oldest, content.time);
    });
    if (written > int64_t(oldest))
      body(part, slice);
    auto seeLater = [&](int64_t than, ByteRange where, const Shadow &contents) {
      contents.forEach(where, [&](ByteRange found, const Content &content) {
        if (int64_t(content.time) > than)
          body(found, content);
      });
    };
    seeLater(written, reach(part), shared);
    for (const auto &[strides, layer] : slices)
      if (strides != part.strides && !layer.isDead())
        seeLater(std::max(written, int64_t(oldest)), touching(part, strides), layer);
  }
  void renameSlices(RankRange range, uint32_t from, uint32_t to, uint64_t origin);

  uint64_t bytes;
  Mesh mesh;
  uint64_t clock = 0;               ///< the last write's time
  Shadow shared;                    ///< bytes at the same place on all ranks
  std::map<PerAxis, Shadow> slices; ///< by strides, where the first rank has them; dead: none
};

} // namespace zero::rt

#endif // RUNTIME_VERIFY_RANK_SHADOW_H
