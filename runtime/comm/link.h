//===- link.h - messages between ranks --------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_LINK_H
#define RUNTIME_COMM_LINK_H

#include "runtime/comm/communicator.h"

#include <span>

namespace zero::rt {

/// Messages between ranks of different processes.
class Link {
public:
  virtual ~Link() = default;

  struct Message {
    int peer; ///< a rank
    void *data;
    uint64_t bytes;
    bool send;
  };

  /// Sends and receives all of `messages` on behalf of rank `self`. Returns when all are complete,
  /// or with the reason of abort(), or after the timeout with an error that names the peers. The
  /// messages of a pair of ranks arrive in order. A receive expects exactly as many bytes as its
  /// peer sends. Different ranks may call this at the same time, each in one thread at a time.
  ///
  /// After an error, incoming data may still be written to the memory of `messages`: it must not
  /// be used for anything else as long as the process exists.
  virtual Status exchange(const Call &call, int self, std::span<const Message> messages) = 0;

  /// Ends the waits of all ranks of this process with `reason`; the first reason given stays.
  virtual void abort(const Status &reason) = 0;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_LINK_H
