//===- Isolate.h - runs cases where they can do no harm ---------*- C++ -*-===//

#ifndef TEST_FUZZ_ISOLATE_H
#define TEST_FUZZ_ISOLATE_H

#include <cstdint>
#include <functional>
#include <string>

namespace zero::fuzz {

enum class Verdict { Accepted, Refused };

/// What one case must not exceed. Time is CPU time, as the machine may be busy; a
/// case that waits for something that never comes is ended by the wall clock.
struct Limits {
  double cpuSeconds = 100;
  double wallSeconds = 1200;
  uint64_t residentKiB = 2u << 20;
};

/// Sums over all cases, kept in memory that survives the process that runs them.
struct Tally {
  uint64_t accepted = 0, refused = 0, failed = 0;
  double worstSeconds = 0;
  uint64_t worstSecondsCase = 0;
  uint64_t worstKiB = 0, worstKiBCase = 0;
};

/// How a case failed.
struct Failure {
  uint64_t index = 0;
  std::string reason;    ///< "signal 6", "more than 10 s", ...
  std::string signature; ///< the line that tells failures apart
  std::string output;    ///< what the case wrote to standard error
};

/// Runs `body(index)` for all indices of [first, last) in child processes, many to
/// a process, in the folder `scratch`. A case that crashes, hangs or takes too much
/// memory is reported to `onFailure`, and the next one runs in a new process. The
/// child's standard error goes to `scratch`/stderr, which is empty when a case starts.
Tally runIsolated(uint64_t first, uint64_t last, const std::string &scratch, const Limits &limits,
                  const std::function<Verdict(uint64_t)> &body,
                  const std::function<void(const Failure &)> &onFailure);

/// Ends the case that is running as a failure, saying why.
[[noreturn]] void failCase(const std::string &why);

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);

} // namespace zero::fuzz

#endif // TEST_FUZZ_ISOLATE_H
