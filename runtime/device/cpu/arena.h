//===- arena.h - one rank's host memory -------------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_ARENA_H
#define RUNTIME_DEVICE_CPU_ARENA_H

#include "runtime/device/device.h"

namespace zero::rt {

/// Memory of this machine by mmap, starting at a multiple of 2 MiB so that the
/// kernel may back it with huge pages. With `guarded` the page before it and the
/// page after its last one fault on any access. With `resident` the system is asked not
/// to move its pages to a disk.
Status reserveHostMemory(uint64_t bytes, bool guarded, bool resident,
                         std::unique_ptr<Arena> &arena);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_ARENA_H
