//===- available_memory.h - memory that a process may still take -*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_AVAILABLE_MEMORY_H
#define RUNTIME_SUPPORT_AVAILABLE_MEMORY_H

#include <cstdint>
#include <optional>
#include <string>

namespace zero::rt {

/// A limit of memory around this process.
struct MemoryLimit {
  std::string name; ///< the control group, or the command that shows the limit: "ulimit -v"
  uint64_t bytes = 0;
  uint64_t used = 0;

  uint64_t left() const { return bytes - (used < bytes ? used : bytes); }
};

/// The limit of a control group (cgroups(7), versions 1 and 2) that leaves the least, if there is
/// one. It counts all processes of the group, without the page cache, which the kernel can drop.
std::optional<MemoryLimit> memoryLimit();

/// The same of this process alone (getrlimit(2)): of its address space or of its data.
std::optional<MemoryLimit> processLimit();

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
