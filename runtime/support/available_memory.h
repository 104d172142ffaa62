//===- available_memory.h - memory that a process may still take -*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_AVAILABLE_MEMORY_H
#define RUNTIME_SUPPORT_AVAILABLE_MEMORY_H

#include <cstdint>
#include <optional>
#include <string>

namespace zero::rt {

/// A limit of a control group (cgroups(7), versions 1 and 2) around this process.
struct MemoryLimit {
  std::string group;
  uint64_t bytes = 0;
  uint64_t used = 0; ///< by all its processes, without the page cache, which the kernel can drop

  uint64_t left() const { return bytes - (used < bytes ? used : bytes); }
};

/// The limit that leaves the least, if there is one.
std::optional<MemoryLimit> memoryLimit();

/// A limit of this process alone (getrlimit(2)): of its address space or of its data.
struct ProcessLimit {
  const char *command; ///< that shows and sets it: "ulimit -v"
  uint64_t bytes = 0;
  uint64_t used = 0;

  uint64_t left() const { return bytes - (used < bytes ? used : bytes); }
};

/// The limit that leaves the least, if there is one.
std::optional<ProcessLimit> processLimit();

/// Bytes that this process has taken and the kernel cannot drop: heap, stacks, shared memory and
/// page tables. 0 where proc(5) does not say.
uint64_t ownMemory();

/// Whether the kernel can move memory of this machine to a disk.
bool hasSwap();

/// Bytes that this machine can give without swapping (MemAvailable of proc(5)), at most what the
/// limits of the process and of its control groups leave.
uint64_t availableMemory();

/// Whether files at `path` are in memory, as in tmpfs.
bool isInMemory(const std::string &path);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_AVAILABLE_MEMORY_H
