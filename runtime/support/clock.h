//===- clock.h - the time of day --------------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_CLOCK_H
#define RUNTIME_SUPPORT_CLOCK_H

#include <chrono>

namespace zero::rt {

/// Seconds since the beginning of 1970, UTC.
inline double unixTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_CLOCK_H
