//===- Isolate.h - runs cases in child processes ----------------*- C++ -*-===//

#ifndef TEST_FUZZ_ISOLATE_H
#define TEST_FUZZ_ISOLATE_H

#include <cstdint>
#include <functional>
#include <string>

namespace zero::fuzz {

enum class Verdict { Accepted, Refused };

/// The limits of one case. Time is CPU time, because the machine may be busy. The wall clock ends a
/// case that waits forever.
struct Limits {
  double cpuSeconds = 100;
  double wallSeconds = 1200;
  uint64_t residentKiB = 2u << 20;
};

/// Counts over all cases, in memory that survives the processes that run them.
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
  std::string signature; ///< the line that distinguishes failures
  std::string output;    ///< what the case wrote to standard error
};

/// Runs `body(index)` for all indices of [first, last) in child processes in the folder `scratch`,
/// many per process. A case that crashes, hangs or uses too much memory is reported to `onFailure`,
/// and the next case runs in a new process. The child's standard error is written to
/// `scratch`/stderr, which is empty when a case starts.
Tally runIsolated(uint64_t first, uint64_t last, const std::string &scratch, const Limits &limits,
                  const std::function<Verdict(uint64_t)> &body,
                  const std::function<void(const Failure &)> &onFailure);

/// Ends the current case as a failure with the reason `why`.
[[noreturn]] void failCase(const std::string &why);

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);

} // namespace zero::fuzz

#endif // TEST_FUZZ_ISOLATE_H
