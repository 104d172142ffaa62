//===- poison.cpp - finds uses of what a step left behind -----------------===//

#include "runtime/core/poison.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

static constexpr unsigned char kPoison = 0xff; // a NaN in every float format

Poison::Poison(const proto::Program &program, int rank, char *base) : base(base) {
  std::vector<Range> kept;
  for (const proto::Buffer &buffer : program.buffers()) {
    uint64_t begin = buffer.offset() + static_cast<uint64_t>(rank * buffer.rank_stride());
    kept.push_back({begin, begin + buffer.elements() * sizeOf(toDType(buffer.dtype()))});
  }
  std::sort(kept.begin(), kept.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (const Range &range : kept) {
    if (peak < range.begin)
      transient.push_back({peak, range.begin});
    peak = std::max(peak, range.end);
  }
  transient.push_back({peak, deviceBytes(program)});
}

void Poison::apply() {
  for (const Range &range : transient)
    std::memset(base + range.begin, kPoison, range.end - range.begin);
}

uint64_t Poison::measurePeak() {
  for (const Range &range : transient) {
    uint64_t end = range.end;
    while (end > range.begin && end > peak && static_cast<unsigned char>(base[end - 1]) == kPoison)
      --end;
    if (end > range.begin)
      peak = std::max(peak, end);
  }
  return peak;
}

} // namespace zero::rt
