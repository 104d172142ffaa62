//===- children.h - processes that this one has started ---------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_CHILDREN_H
#define TOOLS_ZERO_RUN_CHILDREN_H

#include "runtime/support/status.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace zero::run {

/// How a process ended.
struct End {
  int process = -1; ///< -1: none
  int status = 0;   ///< as waitpid() returns it

  bool isFailure() const { return status != 0; }
  /// 128 and more after a signal.
  int code() const;
  /// Whether it ended in order because a signal asked it to.
  bool isInterruption() const;
  /// "process 1 was ended by signal 9 (Killed)"
  std::string text() const;
};

/// What the processes of one attempt have in common.
struct Start {
  std::vector<std::string> arguments;
  int processes = 1, attempt = 0;
};

/// The processes that were started and have not ended. Those left are killed at the end.
class Children {
public:
  Children() = default;
  Children(const Children &) = delete;
  Children &operator=(const Children &) = delete;
  ~Children();

  rt::Status start(int process, const Start &start, const std::string &job);
  void signal(int number) const;
  /// Kills those that were stopped by a signal, and so cannot end by themselves.
  void killStopped() const;
  bool isEmpty() const { return all.empty(); }
  /// Waits until one has ended, or a signal came. `first`: the first one that failed.
  void wait(End &first);

private:
  struct Child {
    int process;
    pid_t id;
    int descriptor; ///< readable when it has ended
  };
  std::vector<Child> all;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_CHILDREN_H
