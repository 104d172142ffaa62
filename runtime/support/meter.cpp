//===- meter.cpp - progress of long work ----------------------------------===//

#include "runtime/support/meter.h"

#include <algorithm>

namespace zero::rt {

static constexpr std::chrono::milliseconds kPause(200);

void Meter::begin(const char *name, uint64_t bytes) {
  what = name;
  done = 0;
  total = bytes;
  next = 0;
  if (report)
    tell(); // from now on it takes time
}

void Meter::tell() {
  const uint64_t now = done; // before `total`, so that `now` never exceeds it
  report(context, what, now, std::max<uint64_t>(total, now + 1));
}

void Meter::add(uint64_t bytes) {
  done += bytes;
  if (!report || Clock::now().time_since_epoch().count() < next)
    return;
  std::unique_lock lock(telling, std::try_to_lock);
  if (!lock.owns_lock())
    return;
  tell();
  next = (Clock::now() + kPause).time_since_epoch().count();
}

void Meter::end() {
  std::lock_guard lock(telling);
  if (report && done > 0)
    report(context, what, done, done);
}

} // namespace zero::rt
