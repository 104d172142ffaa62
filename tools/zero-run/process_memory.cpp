//===- process_memory.cpp - memory of a process and its limit -------------===//

#include "process_memory.h"

#include "progress.h"
#include "runtime/processes/socket.h"
#include "runtime/support/available_memory.h"
#include "saved_bytes.h"
#include "tiers.h"
#include "zero/Planning/ProcessMemory.h"

#include <algorithm>
#include <cstdio>

using namespace zero::rt;

namespace zero::run {

std::string ProcessMemory::text() const {
  const std::string copied =
      copies ? ", " + bytesText(copies) + " of copies for checkpoints" : std::string();
  return bytesText(arenas) + " of arenas" + copied + " and " + bytesText(beside) + " beside them";
}

static int ranksOfProcess(const Executable &executable, const Job &job) {
  return infoOf(executable).ranks / std::max(job.processes(), 1);
}

static bool isOnCpu(const Executable &executable) {
  return infoOf(executable).device == std::string_view("cpu");
}

ProcessMemory processMemory(const Executable &executable, const Job &job) {
  const uint64_t ranks = uint64_t(ranksOfProcess(executable, job));
  const RankBytes bytes = rankBytes(executable);
  ProcessMemory memory;
  memory.arenas = ranks * (isOnCpu(executable) ? bytes.memory : bytes.host);
  memory.beside =
      ownMemory() + planning::bytesOfLibraries(ranks > 0 ? memory.arenas / ranks : 0, ranks);
  return memory;
}

Status chooseAsync(const Options &options, const Executable &executable, const Job &job,
                   ProcessMemory &memory) {
  if (!options.saveEvery || options.saveAsync == SaveAsync::Off)
    return {};
  uint64_t copies;
  ZERO_RT_TRY(countSavedByProcess(options, job, executable, copies));
  // As much again is left to others.
  uint64_t lacking = memory.total() + 2 * copies > availableMemory() / job.processesOfNode();
  if (options.saveAsync == SaveAsync::Auto)
    ZERO_RT_TRY(job.sum("processes without memory for a copy of the state", lacking));
  if (options.saveAsync == SaveAsync::On || lacking == 0)
    memory.copies = copies;
  else if (!options.quiet && job.isFirst())
    std::printf("checkpoints are written between steps: a copy of the state takes %s; "
                "--save-async=on makes it\n",
                bytesText(copies).c_str());
  return {};
}

/// The error if `processes` processes like this one do not fit into the control group.
static Status checkFits(const MemoryLimit &limit, const ProcessMemory &memory, int ranks,
                        uint64_t processes) {
  const uint64_t own = std::min(ownMemory(), memory.beside); // is in use already
  if ((memory.total() - own) * processes <= limit.left())
    return {};
  const std::string others =
      processes == 1 ? "" : format(", as %llu processes in it do", (unsigned long long)processes);
  return fail(ZERO_RT_UNSUPPORTED,
              "the %d rank%s of this process need %s%s, and its control group '%s' allows %s, of "
              "which %s are in use: raise the limit, divide the ranks among more machines, or "
              "compile with --memory-budget",
              ranks, ranks == 1 ? "" : "s", memory.text().c_str(), others.c_str(),
              escape(limit.name).c_str(), bytesText(limit.bytes).c_str(),
              bytesText(limit.used).c_str());
}

Status checkMemoryLimit(const Executable &executable, const Job &job, const ProcessMemory &memory) {
  const auto limit = memoryLimit();
  // With swap a group may have more than its limit. What a driver of GPUs takes is not known.
  const bool isLimited = limit && !hasSwap() && isOnCpu(executable);
  const std::string group = isLimited ? hostName() + ":" + limit->name : "";
  std::vector<std::string> all = {group};
  if (job.isOneOfMany())
    ZERO_RT_TRY(job.gatherTexts("control groups", group, all));
  if (!isLimited)
    return job.agree({});
  return job.agree(checkFits(*limit, memory, ranksOfProcess(executable, job),
                             uint64_t(std::ranges::count(all, group))));
}

} // namespace zero::run
