//===- results.h - results of a run -----------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_RESULTS_H
#define TOOLS_ZERO_RUN_RESULTS_H

#include "tools/profiling/profile.h"
#include "zero/Planning/DriveWear.h"
#include "zero_rt/evaluation.h"

#include <optional>
#include <string>

namespace zero::run {

/// The mean loss over held-out samples, after `step` steps.
struct Evaluation {
  uint64_t step;
  zero_rt_evaluation total;
};

/// What a run does to its drive. Bytes are those of all ranks.
struct DriveUse {
  uint64_t read = 0, written = 0; ///< blocks: initial values, steps, evaluations, checkpoints
  planning::DriveWear wear;       ///< bytes of a step as planned, at the measured time of one
};

/// Bytes that a process needs in the memory of its machine.
struct ProcessMemory {
  uint64_t arenas = 0; ///< of its ranks: of the host, and of the device where that is a CPU
  uint64_t copies = 0; ///< of the state, for checkpoints that are written beside steps
  uint64_t beside = 0; ///< heap, libraries, stacks and page tables, at most

  uint64_t total() const { return arenas + copies + beside; }
  /// "171.9 MiB of arenas and 41.6 MiB beside them", or "171.9 MiB of arenas, 12.0 MiB of copies
  /// for checkpoints and 41.6 MiB beside them"
  std::string text() const;
};

/// How a run has ended.
enum class Ending { Complete, Signal, Time, Patience };
/// "complete", "signal", ...
inline const char *nameOf(Ending ending) {
  static constexpr const char *kNames[] = {"complete", "signal", "time", "patience"};
  return kNames[size_t(ending)];
}

/// The checkpoints of a run.
struct Saves {
  uint64_t count = 0;
  double seconds = 0; ///< for which the run waited, instead of going on
};

struct Results {
  uint64_t first = 0; ///< step, after those of the checkpoint
  std::vector<zero_rt_step_result> steps;
  std::vector<Evaluation> evaluations;
  std::vector<Profile> profiles; ///< by shape
  /// Bytes that rank 0 moved from and to its disk in the last step.
  uint64_t nvmeRead = 0, nvmeWritten = 0;
  DriveUse drive;
  Saves saves;
  ProcessMemory process;
  std::vector<uint64_t> mpiBytes; ///< resident, of the library of MPI, by process; empty without it
  zero_rt_stats stats{};          ///< of rank 0, or of the process's own
  Ending ending = Ending::Complete;
  std::string patience; ///< why it has ended before its last step, if so
  std::string resume;   ///< the flag with which the steps that are left go on; empty: none does

  /// Steps done, those of the checkpoint included.
  uint64_t done() const { return first + steps.size(); }
  /// The mean; 0 without a step.
  double secondsPerStep() const {
    double seconds = 0;
    for (const zero_rt_step_result &step : steps)
      seconds += step.seconds;
    return steps.empty() ? 0 : seconds / double(steps.size());
  }
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RESULTS_H
