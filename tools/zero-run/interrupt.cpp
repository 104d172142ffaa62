//===- interrupt.cpp - Ctrl-C ends a run in order -------------------------===//

#include "interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace zero::run {

// A signal handler may use nothing else.
static constexpr int kMostPaths = 64;
static std::atomic<int> received{0}, pathCount{0};
static char *paths[kMostPaths];
static_assert(std::atomic<int>::is_always_lock_free);

static void onSignal(int signal) {
  int none = 0;
  if (received.compare_exchange_strong(none, signal))
    return;
  for (int i = 0; i < pathCount; ++i)
    if (::unlink(paths[i]) != 0)
      ::rmdir(paths[i]);
  ::_exit(128 + signal);
}

void catchInterrupts() {
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {}, old;
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of its write
}

int interruption() { return received; }

int interruptionCode() { return 128 + interruption(); }

void removeWhenKilled(const std::string &path) {
  int index = pathCount;
  if (index == kMostPaths)
    return;
  paths[index] = ::strdup(path.c_str()); // read by the handler until the process ends
  if (paths[index])
    ++pathCount;
}

} // namespace zero::run
