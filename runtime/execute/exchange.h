//===- exchange.h - exchange messages between ranks -------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_EXCHANGE_H
#define RUNTIME_EXECUTE_EXCHANGE_H

#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/execute/note.h"

namespace zero::rt {

/// One rank's end of an exchange of notes, which are gathered as a step's tensors are.
class Exchange {
public:
  /// Sends `own` to all ranks and returns the messages of all, by rank. Between steps; all take
  /// part. A failure is not sent to the others.
  Status run(Device &device, Queue &queue, Communicator &communicator, const Note &own,
             std::vector<Note> &all);

private:
  std::unique_ptr<Arena> notes; ///< of all ranks, once there was an exchange
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_EXCHANGE_H
