//===- message.cpp - messages between the processes of a job --------------===//

#include "runtime/processes/message.h"

#include <cstring>

namespace zero::rt {

bool setEnds(MessageHeader &header, int from, int processes) {
  header.from = from;
  switch (header.kind) {
  case Kind::Gather:
  case Kind::Fail:
  case Kind::FailAll:
  case Kind::Left:
    header.to = 0;
    return true;
  case Kind::Ask:
    header.to = kEveryone;
    return true;
  case Kind::Answer:
  case Kind::Grant:
  case Kind::Piece:
    return header.to >= 0 && header.to < processes;
  default:
    return false;
  }
}

void append(std::string &body, uint64_t number) {
  body.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

void append(std::string &body, std::string_view text) {
  append(body, uint64_t(text.size()));
  body.append(text);
}

uint64_t Fields::number() {
  uint64_t number = 0;
  ok = ok && rest.size() >= sizeof(number);
  if (!ok)
    return 0;
  std::memcpy(&number, rest.data(), sizeof(number));
  rest.remove_prefix(sizeof(number));
  return number;
}

std::string_view Fields::text() {
  const uint64_t bytes = number();
  ok = ok && bytes <= rest.size();
  if (!ok)
    return {};
  const std::string_view text = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  return text;
}

Message failureMessage(Kind kind, int from, const Status &status) {
  // Reasons are shown as one line: nobody needs more.
  Message message(kind, from, 0, status.getMessage().substr(0, 16384));
  message.header.code = uint32_t(status.getCode());
  return message;
}

Status statusOf(const Message &failure) {
  const bool isKnown = failure.header.code > ZERO_RT_OK && failure.header.code <= ZERO_RT_INTERNAL;
  return {isKnown ? zero_rt_code(failure.header.code) : ZERO_RT_INTERNAL,
          std::string(failure.text())};
}

} // namespace zero::rt
