//===- work_line.cpp - progress of long work ------------------------------===//

#include "work_line.h"

#include "progress.h"
#include "runtime/support/status.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using zero::rt::format;

namespace zero::run {

/// Interval of updates on a terminal, in place.
static constexpr double kTerminalPause = 0.2;

WorkLine::WorkLine(bool quiet, double least, double pause)
    : quiet(quiet), terminal(::isatty(STDOUT_FILENO)), least(least),
      pause(terminal ? std::min(kTerminalPause, pause) : pause) {}

/// What fails leaves its line as it was; the error gets one of its own.
WorkLine::~WorkLine() {
  if (isOpen)
    std::printf("\n");
  std::fflush(stdout);
}

void WorkLine::print(const std::string &text, bool stays) {
  if (terminal)
    std::printf("\r%s\033[K%s", text.c_str(), stays ? "\n" : "");
  else
    std::printf("%s\n", text.c_str());
  std::fflush(stdout); // before anything on stderr
  isOpen = terminal && !stays;
  isPrinted = true;
}

void WorkLine::show(const char *name, uint64_t done, uint64_t total) {
  if (quiet)
    return;
  const Clock::time_point now = Clock::now();
  if (done == 0 || what != name) {
    what = name;
    begin = last = now;
    isPrinted = false;
  }
  const auto secondsSince = [&](Clock::time_point when) {
    return std::chrono::duration<double>(now - when).count();
  };
  const double seconds = secondsSince(begin);
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const std::string speed = bytesText(static_cast<uint64_t>(rate)) + "/s";
  if (done == total) {
    if (isPrinted || seconds >= least)
      print(format("%s: %s in %.1f s, %s", name, bytesText(total).c_str(), seconds, speed.c_str()),
            /*stays=*/true);
    what.clear();
    return;
  }
  if (rate <= 0 || secondsSince(last) < pause)
    return;
  last = now;
  print(format("%s: %s of %s, %s, %.0f s left", name, bytesText(done).c_str(),
               bytesText(total).c_str(), speed.c_str(), static_cast<double>(total - done) / rate),
        /*stays=*/false);
}

} // namespace zero::run
