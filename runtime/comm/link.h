//===- link.h - messages between ranks of different nodes -------*- C++ -*-===//

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
    int peer; ///< the rank that sends or receives it
    void *data;
    uint64_t bytes;
    bool send;
  };
  /// Sends and receives all of `messages` on behalf of rank `self`. Returns when all are complete,
  /// with the reason of abort(), or after the timeout with an error that names the ranks that did
  /// not take part. Messages of a pair of ranks arrive in order. Several ranks of this process call
  /// it at once, each from one thread.
  virtual Status exchange(const Call &call, int self, std::span<const Message> messages) = 0;

  /// Ends all waits with `reason`; the first reason given stays.
  virtual void abort(const Status &reason) = 0;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_LINK_H
