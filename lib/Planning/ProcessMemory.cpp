//===- ProcessMemory.cpp - memory of a process with CPU ranks -------------===//

#include "zero/Planning/ProcessMemory.h"

#include <algorithm>

namespace zero::planning {

/// What oneDNN keeps in a process: code that it has generated. Measured: 5.1 MiB.
static constexpr uint64_t kLibraries = 8 << 20;

/// What oneDNN and glibc keep for a rank with an arena of so many bytes after its first steps:
/// packed blocks of operands. Measured: 16.7 MiB for 76 MiB, 1.5 MiB for 1.4 MiB.
static uint64_t librariesOf(uint64_t arena) {
  return std::min<uint64_t>(24 << 20, (2 << 20) + arena / 4);
}

/// A page of 4 KiB has an entry of 8 bytes in a page table.
static constexpr uint64_t kBytesOfTableByte = 4096 / 8;

uint64_t bytesOfLibraries(uint64_t arena, uint64_t ranks) {
  return kLibraries + ranks * (arena / kBytesOfTableByte + librariesOf(arena));
}

uint64_t processBytes(uint64_t arena, uint64_t ranks) {
  return kOwnBytes + ranks * arena + bytesOfLibraries(arena, ranks);
}

uint64_t arenaWithin(uint64_t bytes, uint64_t ranks) {
  uint64_t least = 0, most = bytes / ranks + 1; // `most` does not fit
  if (processBytes(0, ranks) > bytes)
    return 0;
  while (most - least > 1) {
    const uint64_t middle = least + (most - least) / 2;
    (processBytes(middle, ranks) <= bytes ? least : most) = middle;
  }
  return least;
}

} // namespace zero::planning
