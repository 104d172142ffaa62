//===- connection.cpp - messages over a socket ----------------------------===//

#include "runtime/processes/connection.h"

#include <array>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace zero::rt {

/// Bodies grow as their bytes arrive, since their length may be a lie.
static constexpr uint64_t kGrowth = 1 << 20;
/// Other connections get their turn after as many bytes.
static constexpr uint64_t kTurn = 4 << 20;

void Connection::lose(int reason) {
  lost = true;
  error = reason;
  outbox.clear();
}

std::string Connection::lossText() const {
  if (error == EPROTO)
    return "sent a message that is not understood";
  if (error == 0 || error == ECONNRESET || error == EPIPE)
    return "ended unexpectedly";
  return format("cannot be reached: %s", std::strerror(error));
}

void Connection::seal(Seal ofSent, Seal ofReceived) {
  sealOfSent = std::move(ofSent);
  sealOfReceived = std::move(ofReceived);
}

void Connection::send(Message message) {
  if (lost || finished)
    return;
  outbox.push_back(sealOfSent ? sealOfSent->close(message) : std::move(message));
  flush();
}

void Connection::flush() {
  while (!outbox.empty() && !lost) {
    Message &first = outbox.front();
    const std::string_view text = first.text();
    std::array<iovec, 2> parts;
    const uint64_t ofHeader = std::min<uint64_t>(sent, sizeof(MessageHeader));
    const uint64_t ofBody = sent - ofHeader;
    parts[0] = {reinterpret_cast<char *>(&first.header) + ofHeader,
                sizeof(MessageHeader) - ofHeader};
    parts[1] = {const_cast<char *>(text.data()) + ofBody, text.size() - ofBody};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t count = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    if (count < 0) {
      // What the other end has sent before can still be read: receive() finds the end.
      outbox.clear();
      finished = true;
      return;
    }
    sent += uint64_t(count);
    if (sent == sizeof(MessageHeader) + text.size()) {
      outbox.pop_front();
      sent = 0;
    }
  }
}

void Connection::finish() {
  if (!finished && !lost)
    (void)::shutdown(socket.get(), SHUT_WR); // if it is lost, receive() finds that
  finished = true;
}

void Connection::prepare(PollSet &polls) {
  slot = lost ? -1 : polls.add(socket.get(), short(POLLIN | (isSending() ? POLLOUT : 0)));
}

void Connection::serve(const PollSet &polls, const std::function<bool(Message &&)> &take) {
  const short events = polls.events(slot);
  if (events & POLLOUT)
    flush();
  if (events & (POLLIN | POLLHUP | POLLERR))
    receive(take);
}

/// Receives up to `bytes`; false: nothing is there.
bool Connection::receiveSome(void *data, uint64_t bytes, uint64_t &count) {
  ssize_t result;
  do {
    result = ::recv(socket.get(), data, bytes, MSG_DONTWAIT);
  } while (result < 0 && errno == EINTR);
  if (result > 0) {
    count = uint64_t(result);
    return true;
  }
  if (result == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
    lose(result == 0 ? 0 : errno);
  return false;
}

bool Connection::receiveHeader() {
  uint64_t count = 0;
  if (!receiveSome(reinterpret_cast<char *>(&header) + received, sizeof(MessageHeader) - received,
                   count))
    return false;
  received += count;
  if (received < sizeof(MessageHeader))
    return true;
  if (header.bytes > limit + (sealOfReceived ? Seal::kBytes : 0))
    lose(EPROTO);
  body.clear();
  return !lost;
}

bool Connection::receiveBody() {
  const uint64_t present = received - sizeof(MessageHeader);
  if (present == body.size())
    body.resize(std::min(header.bytes, present + kGrowth));
  uint64_t count = 0;
  if (!receiveSome(body.data() + present, body.size() - present, count))
    return false;
  received += count;
  return true;
}

void Connection::receive(const std::function<bool(Message &&)> &take) {
  uint64_t turn = 0;
  while (!lost && turn < kTurn) {
    const uint64_t before = received;
    if (received < sizeof(MessageHeader) ? !receiveHeader() : !receiveBody())
      return;
    turn += received - before;
    if (received < sizeof(MessageHeader) || received < sizeof(MessageHeader) + header.bytes)
      continue;
    Message message;
    message.header = header;
    message.body = std::make_shared<const std::string>(std::move(body));
    body = {};
    received = 0;
    if ((sealOfReceived && !sealOfReceived->open(message)) || !take(std::move(message)))
      lose(EPROTO);
  }
}

} // namespace zero::rt
