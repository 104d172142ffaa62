//===- threads.h - ranks as threads of one process --------------*- C++ -*-===//

#ifndef RUNTIME_COMM_THREADS_THREADS_H
#define RUNTIME_COMM_THREADS_THREADS_H

#include "runtime/comm/communicator.h"

#include <memory>
#include <vector>

namespace zero::rt {

struct ThreadGroupOptions {
  int ranks = 1;
  double timeoutSeconds = 120;
  /// For tests: rank `stallRank` never arrives at its `stallCollective`-th collective. It wakes
  /// when the others have failed.
  int stallRank = -1;
  int64_t stallCollective = -1;
};

/// The ends of a new group, by rank. They read each other's buffers directly.
std::vector<std::unique_ptr<Communicator>> makeThreadGroup(const ThreadGroupOptions &options);

} // namespace zero::rt

#endif // RUNTIME_COMM_THREADS_THREADS_H
