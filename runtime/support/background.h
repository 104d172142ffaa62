//===- background.h - work beside the calling thread ------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_BACKGROUND_H
#define RUNTIME_SUPPORT_BACKGROUND_H

#include "runtime/support/thread.h"

#include <atomic>

namespace zero::rt {

/// One piece of work at a time, on a thread of its own with less priority than the others.
class Background {
public:
  Background() = default;
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;
  ~Background() { (void)wait(); }

  /// Begins `work`, once earlier work is done. Fails if there can be no thread `what`.
  Status start(const std::string &what, std::function<Status()> work);
  /// Whether wait() returns at once.
  bool isDone() const { return done; }
  /// Waits for the work, and returns how it went; the same if called again.
  Status wait();

private:
  std::thread thread;
  Status status;
  std::atomic<bool> done = true;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_BACKGROUND_H
