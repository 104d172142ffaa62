//===- launch.cpp - start the processes of a run --------------------------===//

#include "launch.h"

#include "children.h"
#include "restarts.h"
#include "runtime/support/temporary.h"
#include "tools/process/process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace zero::rt;

namespace zero::run {

/// How long the others may take to end by themselves when one has failed.
static constexpr std::chrono::seconds kGrace{3};

bool isLauncher(const Options &options) {
  return options.processes && !std::getenv("ZERO_PROCESS");
}

/// Starts all processes, and waits until all have ended. `first`: the first one that failed.
static Status runOnce(const Start &start, End &first) {
  const std::string job =
      format("%d-%016llx", int(::getpid()), static_cast<unsigned long long>(randomToken()));
  Children children;
  for (int process = 0; process < start.processes; ++process)
    ZERO_RT_TRY(children.start(process, start, job));
  auto deadline = std::chrono::steady_clock::time_point::max();
  for (int passed = 0; !children.isEmpty();) {
    children.wait(first);
    if (first.isFailure()) {
      children.killStopped();
      deadline = std::min(deadline, std::chrono::steady_clock::now() + kGrace);
    }
    if (std::chrono::steady_clock::now() > deadline)
      children.signal(SIGKILL); // one that hangs
    // The first asks the children to end in order, the second to end at once.
    if (const int signals = process::interruptions(); signals > passed) {
      children.signal(process::interruption());
      if (signals > 1)
        deadline = std::min(deadline, std::chrono::steady_clock::now() + kGrace);
      passed = signals;
    }
  }
  return {};
}

Status launch(const Options &options, char **arguments, int &code) {
  Restarts restarts(options, arguments);
  process::endWithChildren();
  for (;;) {
    End first;
    Status started = runOnce(restarts.next(), first);
    code = first.code();
    const bool isDone = started.ok() && !first.isFailure();
    if (!isDone)
      removeLeft(options);
    if (isDone || process::interruption() || first.isInterruption() ||
        !restarts.prepare(started, first))
      return started;
  }
}

} // namespace zero::run
