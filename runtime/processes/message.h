//===- message.h - messages between the processes of a job ------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_MESSAGE_H
#define RUNTIME_PROCESSES_MESSAGE_H

#include "runtime/processes/fields.h"
#include "runtime/support/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zero::rt {

/// The protocol of this version. MessageHeader and Hello up to its job must stay as they are, so
/// that all versions can tell each other that they differ.
inline constexpr uint32_t kProtocol = 2;

enum class Kind : uint32_t {
  None,
  Hello,    ///< of a process to process 0: who it is
  Welcome,  ///< the answer: who process 0 is, and that it knows the secret
  Refused,  ///< or why it cannot join; code: a Refusal
  Confirm,  ///< that the process knows the secret, too. All later messages are sealed
  Admitted, ///< the process has joined; or Refused
  Start,    ///< all have joined: their names
  Gather,   ///< the part of a process of an allGather
  Gathered, ///< all parts
  Grant,    ///< the receiver of a stream has room for more pieces; code: how many
  Piece,    ///< of a stream
  Fail,     ///< a process has failed; code: of the status
  FailAll,  ///< the same, with a reason that needs no name of who reports it
  Failed,   ///< the job has failed, by `from`, or -1
  Ask,      ///< how far are you?
  Answer,
  Left, ///< `from` has ended, and this is no failure
};

/// Ended: of a job that is over, whose address another attempt may use next.
enum class Refusal : uint32_t { OtherJob, Ended, Mismatch };

/// Goes over the wire as it is.
struct MessageHeader {
  Kind kind;
  int32_t from = 0, to = 0; ///< processes; to kEveryone: all others
  uint32_t code = 0;
  uint64_t sequence = 0; ///< of a collective or question; in a handshake kHelloMagic
  uint64_t bytes = 0;    ///< that follow
};
static_assert(sizeof(MessageHeader) == 32);

inline constexpr int32_t kEveryone = -1;
inline constexpr uint64_t kHelloMagic = 0x314c5443'4f52455a; // "ZEROCTL1"

/// The largest body of a Hello or an answer to it, from whoever has connected.
inline constexpr uint64_t kLargestHello = 4096;
/// The most bytes of an allGather, all processes together.
inline constexpr uint64_t kLargestGather = uint64_t(64) << 20;
/// The largest body of any message: an allGather with the sizes of its parts.
inline constexpr uint64_t kLargestMessage = kLargestGather + (uint64_t(1) << 20);

/// The body is shared by all processes that a message is sent to.
struct Message {
  MessageHeader header;
  std::shared_ptr<const std::string> body;

  Message() = default;
  Message(Kind kind, int from, int to, std::string text = {})
      : header{kind, from, to, 0, 0, text.size()},
        body(std::make_shared<const std::string>(std::move(text))) {}
  std::string_view text() const { return body ? std::string_view(*body) : std::string_view(); }
};

/// Completes the header of a message that process 0 received from `from`: where it goes. False: a
/// process does not send this.
bool setEnds(MessageHeader &header, int from, int processes);

/// A message with a failure of `from`, or -1, and the status of it.
Message failureMessage(Kind kind, int from, const Status &status);
Status statusOf(const Message &failure);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_MESSAGE_H
