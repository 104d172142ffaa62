//===- ProcessMemory.h - memory of a process with CPU ranks -----*- C++ -*-===//

#ifndef ZERO_PLANNING_PROCESSMEMORY_H
#define ZERO_PLANNING_PROCESSMEMORY_H

#include <cstdint>

namespace zero::planning {

/// Bytes that a process of zero-run has at most before it reserves arenas: heap, stacks and the
/// tables of an executable. The process itself measures them.
inline constexpr uint64_t kOwnBytes = 24 << 20;

/// Bytes that libraries and page tables add, at most, in a process of `ranks` CPU ranks, each with
/// `arena` bytes of device and host memory.
uint64_t bytesOfLibraries(uint64_t arena, uint64_t ranks);

/// Bytes that such a process has at most in all.
uint64_t processBytes(uint64_t arena, uint64_t ranks);

/// The largest arena of each rank with which such a process has at most `bytes`; 0 if none has.
uint64_t arenaWithin(uint64_t bytes, uint64_t ranks);

} // namespace zero::planning

#endif // ZERO_PLANNING_PROCESSMEMORY_H
