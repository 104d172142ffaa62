//===- process_memory.h - memory of a process and its limit -----*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PROCESS_MEMORY_H
#define TOOLS_ZERO_RUN_PROCESS_MEMORY_H

#include "job.h"
#include "results.h"

namespace zero::run {

/// To be called before the arenas are reserved: what the process has by then is measured, and what
/// libraries take in the first step is added.
ProcessMemory processMemory(const Executable &executable, const Job &job);

/// Collective. Decides by --save-async whether checkpoints are written beside steps, and adds to
/// `memory` what that takes.
rt::Status chooseAsync(const Options &options, const Executable &executable, const Job &job,
                       ProcessMemory &memory);

/// Collective. Fails on all processes if those of one control group need more than it allows: the
/// kernel would end one of them during the run.
rt::Status checkMemoryLimit(const Executable &executable, const Job &job,
                            const ProcessMemory &memory);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PROCESS_MEMORY_H
