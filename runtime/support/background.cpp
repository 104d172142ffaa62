//===- background.cpp - work beside the calling thread --------------------===//

#include "runtime/support/background.h"

#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace zero::rt {

/// Of the thread's priority, beside threads that compute: it gets a third of a core that it shares
/// with one of them.
static constexpr int kNicer = 5;

static Status runNicely(const std::function<Status()> &work) {
  const id_t self = id_t(::gettid()); // Linux has a priority for each thread
  (void)::setpriority(PRIO_PROCESS, self, ::getpriority(PRIO_PROCESS, self) + kNicer);
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return fail(ZERO_RT_INTERNAL, "out of memory");
  }
}

Status Background::start(const std::string &what, std::function<Status()> work) {
  (void)wait();
  done = false;
  Status started = startThread(what, thread, [this, work = std::move(work)] {
    status = runNicely(work);
    done = true;
  });
  if (!started.ok())
    done = true;
  return started;
}

Status Background::wait() {
  if (thread.joinable())
    thread.join();
  return status;
}

} // namespace zero::rt
