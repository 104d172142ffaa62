//===- checkpoints.cpp - resume from checkpoints --------------------------===//

#include "checkpoints.h"

#include "runtime/checkpoint/generations.h"
#include "runtime/support/file.h"

#include "warnings.h"
#include "zero_rt/saving.h"

#include <chrono>
#include <cstdio>

using namespace zero::rt;

namespace zero::run {

namespace {
/// Adds the seconds that it exists.
class Stopwatch {
public:
  explicit Stopwatch(double &seconds) : seconds(seconds) {}
  Stopwatch(const Stopwatch &) = delete;
  ~Stopwatch() {
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  double &seconds;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};
} // namespace

bool Checkpoints::resumesWhereItSaves() const {
  return isSameFile(options.resume, options.saveState);
}

Status Checkpoints::open() {
  if (options.saveState.empty() || !job.makesFolder(options))
    return {};
  Status locked = FolderLock::take(options.saveState, lock);
  if (!locked.ok() && options.session.local_state)
    return fail(locked.getCode(), "%s; with --local-state each node needs a directory of its own",
                locked.getMessage().c_str());
  ZERO_RT_TRY(locked);
  if (options.resume.empty())
    ZERO_RT_TRY(checkNoneLater(options.saveState, 0, {}));
  if (options.resume.empty() && options.keepsBest)
    ZERO_RT_TRY(checkNoneLater(options.saveState + "/best", 0, {}));
  Draft trial;
  return Draft::create(options.saveState, 0, trial);
}

void Checkpoints::printRemarks(const Session &session) const {
  while (const char *remark = zero_rt_session_next_remark(session.get()))
    if (job.isFirst()) // all say the same
      warn(remark);
}

Status Checkpoints::resume(const Session &session, zero_rt_state_result &from) {
  if (options.resume.empty())
    return {};
  Status status =
      take(zero_rt_session_load_state(session.get(), options.resume.c_str(),
                                      options.restartData ? ZERO_RT_RESTART_DATA : 0, &from));
  printRemarks(session);
  const bool isNew = options.resumeIfAny && status.getCode() == ZERO_RT_NOT_FOUND;
  if (!isNew)
    ZERO_RT_TRY(status);
  if (!options.quiet && isNew)
    std::printf("starts at step 0: %s\n", status.getMessage().c_str());
  else if (!options.quiet)
    std::printf("resumes at step %llu from '%s'\n", static_cast<unsigned long long>(from.step),
                escape(from.generation).c_str());
  std::fflush(stdout); // before anything on stderr
  // What is later in the folder that it resumes from is damaged, and will be replaced.
  if (options.saveState.empty())
    return {};
  if (resumesWhereItSaves() && !isNew)
    saved = from.step;
  else
    ZERO_RT_TRY(checkNoneLater(options.saveState, from.step, {}));
  return {};
}

Status Checkpoints::save(const Session &session, uint64_t steps, bool beside) {
  if (beside) {
    const Stopwatch watch(saves.seconds);
    ZERO_RT_TRY(take(zero_rt_session_start_save(session.get(), options.saveState.c_str())));
    ++saves.count;
    printRemarks(session);
  } else {
    ZERO_RT_TRY(saveIn(session, options.saveState));
  }
  saved = steps;
  return {};
}

Status Checkpoints::saveIn(const Session &session, const std::string &folder) {
  const Stopwatch watch(saves.seconds);
  ZERO_RT_TRY(take(zero_rt_session_save_state(session.get(), folder.c_str())));
  ++saves.count;
  printRemarks(session);
  return {};
}

Status Checkpoints::finish(const Session &session) {
  const Stopwatch watch(saves.seconds);
  ZERO_RT_TRY(take(zero_rt_session_finish_save(session.get())));
  printRemarks(session);
  return {};
}

} // namespace zero::run
