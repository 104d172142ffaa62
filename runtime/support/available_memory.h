//===- available_memory.h - memory that a process may still take -*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_AVAILABLE_MEMORY_H
#define RUNTIME_SUPPORT_AVAILABLE_MEMORY_H

#include <cstdint>

namespace zero::rt {

/// Bytes that this machine can give without swapping (MemAvailable of proc(5)), at most what the
/// limits of the process's control group (version 2) leave.
uint64_t availableMemory();

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_AVAILABLE_MEMORY_H
