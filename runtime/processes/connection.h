//===- connection.h - messages over a socket --------------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_CONNECTION_H
#define RUNTIME_PROCESSES_CONNECTION_H

#include "runtime/processes/secret.h"
#include "runtime/processes/socket.h"

#include <deque>
#include <functional>
#include <optional>

namespace zero::rt {

/// Sends and receives messages without waiting.
class Connection {
public:
  /// Messages with larger bodies than `limit` end the connection.
  Connection(Socket socket, uint64_t limit) : socket(std::move(socket)), limit(limit) {}

  void setLimit(uint64_t bytes) { limit = bytes; }
  /// Seals the messages that are sent from now on, and expects that of those that arrive.
  void seal(Seal ofSent, Seal ofReceived);

  /// Sends the message, or as much of it as the kernel takes, and keeps the rest.
  void send(Message message);
  bool isSending() const { return !outbox.empty(); }
  /// Sends no more: the other end reads what was sent, and then the end.
  void finish();

  /// Adds it to those that `polls` waits for.
  void prepare(PollSet &polls);
  /// Sends and receives what is possible after polls.wait(). Calls `take` for each message; false:
  /// the message is not understood, which ends the connection.
  void serve(const PollSet &polls, const std::function<bool(Message &&)> &take);

  bool isLost() const { return lost; }
  /// What a lost connection means for the process at the other end, as "ended unexpectedly".
  std::string lossText() const;

private:
  void flush();
  void receive(const std::function<bool(Message &&)> &take);
  bool receiveSome(void *data, uint64_t bytes, uint64_t &received);
  bool receiveHeader();
  bool receiveBody();
  void lose(int reason);

  Socket socket;
  uint64_t limit;
  int slot = -1; ///< in the PollSet
  bool lost = false, finished = false;
  int error = 0; ///< errno, or 0: the other end has closed it

  std::optional<Seal> sealOfSent, sealOfReceived;
  std::deque<Message> outbox;
  uint64_t sent = 0; ///< bytes of the first message

  MessageHeader header{};
  std::string body;
  uint64_t received = 0; ///< bytes of header and body
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_CONNECTION_H
