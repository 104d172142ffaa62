//===- poll_set.h - descriptors that a thread waits for ---------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_POLL_SET_H
#define RUNTIME_PROCESSES_POLL_SET_H

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <vector>

namespace zero::rt {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

inline Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(count, 1e9)));
}

/// The time `count` seconds from now.
inline Time after(double count) { return Clock::now() + seconds(count); }

/// Descriptors of one call of poll(2), and when it must end.
class PollSet {
public:
  void clear() {
    polls.clear();
    deadline = Time::max();
  }
  /// Returns the index for events().
  int add(int descriptor, short events) {
    polls.push_back({descriptor, events, 0});
    return int(polls.size()) - 1;
  }
  void wakeAt(Time time) { deadline = std::min(deadline, time); }

  void wait() {
    int milliseconds = -1;
    if (deadline != Time::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      milliseconds = int(std::clamp<int64_t>(left.count(), 0, 60'000));
    }
    if (::poll(polls.data(), polls.size(), milliseconds) < 0)
      for (pollfd &each : polls)
        each.revents = 0; // a signal
  }
  /// What wait() has found; -1: a descriptor that is not waited for.
  short events(int index) const { return index < 0 ? 0 : polls[index].revents; }

private:
  std::vector<pollfd> polls;
  Time deadline = Time::max();
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_POLL_SET_H
