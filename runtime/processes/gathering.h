//===- gathering.h - what the processes give to an allGather ----*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_GATHERING_H
#define RUNTIME_PROCESSES_GATHERING_H

#include "runtime/processes/message.h"
#include "runtime/processes/poll_set.h"

#include <optional>
#include <string>
#include <vector>

namespace zero::rt {

/// Collects the parts at process 0. There is one at a time, since all processes wait for its end.
class Gathering {
public:
  explicit Gathering(int processes) : parts(processes) {}

  bool isActive() const { return arrived > 0; }
  bool isComplete() const { return arrived == int(parts.size()); }
  bool isMissing(int process) const { return !parts[process]; }
  /// When the last one must have arrived.
  Time deadline() const { return end; }
  /// The name of the collective, by the process that arrived first.
  const std::string &what() const { return name; }
  int first() const { return firstProcess; }
  uint64_t bytes() const { return total; }

  /// Adds a part, or returns false: it belongs to another collective, or the process gave one
  /// before.
  bool add(const Message &part, double timeoutSeconds);
  /// The body with all parts. The next collective may begin.
  Message take();

  static std::string encode(std::string_view what, std::string_view own);
  /// The name of the collective of a part.
  static std::string whatOf(const Message &part);
  /// Reads the body of take().
  static bool decode(std::string_view body, int processes, std::vector<std::string> &all);

private:
  std::vector<std::optional<std::string>> parts;
  int arrived = 0, firstProcess = 0;
  uint64_t sequence = 0, total = 0;
  std::string name;
  Time end = Time::max();
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_GATHERING_H
