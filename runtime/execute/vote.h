//===- vote.h - whether any rank wants something ----------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_VOTE_H
#define RUNTIME_EXECUTE_VOTE_H

#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"

namespace zero::rt {

/// One rank's end of a vote, whose number is summed as a step's tensors are.
class Vote {
public:
  /// Whether `mine` is true on any rank. Between steps; all take part.
  Status any(Device &device, Queue &queue, Communicator &communicator, bool mine, bool &result);

private:
  std::unique_ptr<Arena> number; ///< once there was a vote
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_VOTE_H
