//===- automatic.h - leave a run to the planner -----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_AUTOMATIC_H
#define TOOLS_ZERO_RUN_AUTOMATIC_H

#include "job.h"
#include "options.h"

namespace zero::run {

/// With --auto: adds the flags of zeroc that leave stage, tiers, recomputation and tiles to its
/// planner, for the memory and the speed of this machine. Flags that the user gave stay. The speed
/// is measured once and cached; a cache that cannot be written is a warning. `folder` is for
/// temporary files that zeroc reads.
rt::Status addAutomaticFlags(const Options &options, const Job &job, uint64_t ranks,
                             const std::string &folder, std::vector<std::string> &words);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_AUTOMATIC_H
