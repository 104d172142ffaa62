//===- known_machine.h - a cached description of this machine ---*- C++ -*-===//

#ifndef TOOLS_PROCESS_KNOWN_MACHINE_H
#define TOOLS_PROCESS_KNOWN_MACHINE_H

#include <cstdint>
#include <string>

namespace zero::process {

/// Of `ranks` ranks with `threads` threads, how many are measured side by side: as many as the
/// cores of this machine allow.
uint64_t measuredRanks(uint64_t ranks, uint64_t threads);

/// The file in the cache `folder` in which `zero-run --auto` describes this machine; empty without
/// a folder.
std::string machineFile(const std::string &folder, uint64_t measured, uint64_t threads);

/// Whether the description at `path` is of this machine, as it is now.
bool isCurrent(const std::string &path, uint64_t measured, uint64_t threads);

} // namespace zero::process

#endif // TOOLS_PROCESS_KNOWN_MACHINE_H
