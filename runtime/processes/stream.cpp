//===- stream.cpp - bytes of a process for another one --------------------===//
//
// The receiver says how many pieces it has room for. So no process keeps more than a few of them,
// and the threads of all channels can always take what arrives: a receiver whose disk is slow holds
// up no other messages.
//
//===----------------------------------------------------------------------===//

#include "runtime/processes/conversation.h"

namespace zero::rt {

static constexpr uint64_t kPiece = uint64_t(1) << 20, kPiecesOnTheWay = 4;

Status ControlChannel::Conversation::stream(const char *what, int from, int to, uint64_t bytes,
                                            const Read &read, const Write &write) {
  if (std::min(from, to) < 0 || std::max(from, to) >= options.processes)
    return rt::fail(ZERO_RT_INVALID_ARGUMENT,
                    "'%s': expected processes less than %d, got %d and %d", what, options.processes,
                    from, to);
  {
    Lock lock(mail->mutex);
    ++collective;
    if (failure)
      return *failure;
  }
  const bool sends = from == options.process, receives = to == options.process;
  Status status = sends && receives ? copyStream(bytes, read, write)
                  : sends           ? sendStream(what, to, bytes, read)
                  : receives        ? receiveStream(what, from, bytes, write)
                                    : Status();
  Lock lock(mail->mutex);
  rooms.erase(collective);
  receiving = 0;
  pieces.clear();
  return status;
}

Status ControlChannel::Conversation::copyStream(uint64_t bytes, const Read &read,
                                                const Write &write) {
  std::string piece(std::min(bytes, kPiece), '\0');
  for (uint64_t offset = 0; offset < bytes; offset += kPiece) {
    const uint64_t count = std::min(kPiece, bytes - offset);
    Status status = read(piece.data(), offset, count);
    if (status.ok())
      status = write(piece.data(), offset, count);
    if (!status.ok())
      return fail(Kind::Fail, status);
  }
  return {};
}

/// Waits until the receiver has room for a piece, and takes it.
Status ControlChannel::Conversation::awaitRoom(Lock &lock, const char *what, int to,
                                               uint64_t bytes) {
  if (failure)
    return *failure; // even if there is room
  Room &room = rooms[collective];
  ZERO_RT_TRY(await(
      lock, after(options.timeoutSeconds), to, [&] { return room.pieces > 0; },
      [&] {
        return rt::fail(ZERO_RT_TIMEOUT, "%s did not take a piece of '%s' within %g s",
                        nameOf(to).c_str(), what, options.timeoutSeconds);
      }));
  --room.pieces;
  if (room.bytes == bytes && room.what == what)
    return {};
  return giveUp(lock, Kind::FailAll,
                rt::fail(ZERO_RT_INTERNAL,
                         "processes make different calls: %s sends %llu bytes of '%s', %s expects "
                         "%llu bytes of '%s'",
                         nameOf(options.process).c_str(), static_cast<unsigned long long>(bytes),
                         what, nameOf(to).c_str(), static_cast<unsigned long long>(room.bytes),
                         room.what.c_str()));
}

Status ControlChannel::Conversation::sendStream(const char *what, int to, uint64_t bytes,
                                                const Read &read) {
  for (uint64_t offset = 0; offset < bytes; offset += kPiece) {
    Lock lock(mail->mutex);
    ZERO_RT_TRY(awaitRoom(lock, what, to, bytes));
    lock.unlock();
    std::string piece(std::min(kPiece, bytes - offset), '\0');
    if (Status status = read(piece.data(), offset, piece.size()); !status.ok())
      return fail(Kind::Fail, status);
    lock.lock();
    post(Message(Kind::Piece, options.process, to, std::move(piece)), collective);
  }
  return {};
}

Status ControlChannel::Conversation::awaitPiece(Lock &lock, const char *what, int from,
                                                uint64_t count, Message &piece) {
  if (failure)
    return *failure; // even if there are pieces
  ZERO_RT_TRY(await(
      lock, after(options.timeoutSeconds), from, [&] { return !pieces.empty(); },
      [&] {
        return rt::fail(ZERO_RT_TIMEOUT, "%s did not send a piece of '%s' within %g s",
                        nameOf(from).c_str(), what, options.timeoutSeconds);
      }));
  piece = std::move(pieces.front());
  pieces.pop_front();
  if (piece.header.from == from && piece.text().size() == count)
    return {};
  return giveUp(lock, Kind::FailAll,
                rt::fail(ZERO_RT_INTERNAL, "%s sent an unexpected piece of '%s'",
                         nameOf(piece.header.from).c_str(), what));
}

Status ControlChannel::Conversation::receiveStream(const char *what, int from, uint64_t bytes,
                                                   const Write &write) {
  const uint64_t total = (bytes + kPiece - 1) / kPiece;
  std::string expected;
  append(expected, bytes);
  append(expected, std::string_view(what));
  const auto grant = [&](uint64_t count) {
    if (count > 0)
      post(Message(Kind::Grant, options.process, from, expected), collective, uint32_t(count));
  };
  Lock lock(mail->mutex);
  receiving = collective;
  uint64_t granted = std::min(kPiecesOnTheWay, total);
  grant(granted);
  for (uint64_t offset = 0; offset < bytes; offset += kPiece) {
    const uint64_t count = std::min(kPiece, bytes - offset);
    Message piece;
    ZERO_RT_TRY(awaitPiece(lock, what, from, count, piece));
    lock.unlock();
    if (Status status = write(piece.text().data(), offset, count); !status.ok())
      return fail(Kind::Fail, status);
    lock.lock();
    grant(granted < total ? 1 : 0);
    ++granted;
  }
  return {};
}

} // namespace zero::rt
