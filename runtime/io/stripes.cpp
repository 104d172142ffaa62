//===- stripes.cpp - bytes that are spread over files ---------------------===//

#include "runtime/io/stripes.h"

#include <algorithm>
#include <limits>

namespace zero::rt {

Stripes::Place Stripes::at(uint64_t offset) const {
  if (files.size() == 1)
    return {&files.front(), begin + offset, std::numeric_limits<uint64_t>::max()};
  const uint64_t stripe = offset / kBytes, within = offset % kBytes;
  return {&files[stripe % files.size()], begin + stripe / files.size() * kBytes + within,
          kBytes - within};
}

uint64_t Stripes::bytesOf(size_t file, size_t files, uint64_t bytes) {
  const uint64_t round = kBytes * files, first = kBytes * file, rest = bytes % round;
  return bytes / round * kBytes + (rest > first ? std::min(rest - first, kBytes) : 0);
}

} // namespace zero::rt
