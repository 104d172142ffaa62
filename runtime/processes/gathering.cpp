//===- gathering.cpp - what the processes give to an allGather ------------===//

#include "runtime/processes/gathering.h"

namespace zero::rt {

std::string Gathering::encode(std::string_view what, std::string_view own) {
  std::string body;
  append(body, what);
  append(body, own);
  return body;
}

std::string Gathering::whatOf(const Message &part) {
  Fields fields(part.text());
  return std::string(fields.text());
}

bool Gathering::add(const Message &part, double timeoutSeconds) {
  Fields fields(part.text());
  const std::string_view what = fields.text(), own = fields.text();
  std::optional<std::string> &place = parts[part.header.from];
  if (!fields.isAtEnd() || place)
    return false;
  if (!isActive()) {
    sequence = part.header.sequence;
    name = what;
    firstProcess = part.header.from;
    end = after(timeoutSeconds);
  } else if (sequence != part.header.sequence || name != what) {
    return false;
  }
  place = own;
  total += own.size();
  ++arrived;
  return true;
}

Message Gathering::take() {
  std::string body;
  body.reserve(total + parts.size() * sizeof(uint64_t));
  for (std::optional<std::string> &part : parts) {
    append(body, std::string_view(*part));
    part.reset();
  }
  Message all(Kind::Gathered, kEveryone, kEveryone, std::move(body));
  all.header.sequence = sequence;
  arrived = 0;
  total = 0;
  end = Time::max();
  return all;
}

bool Gathering::decode(std::string_view body, int processes, std::vector<std::string> &all) {
  Fields fields(body);
  all.assign(processes, {});
  for (std::string &each : all)
    each = fields.text();
  return fields.isAtEnd();
}

} // namespace zero::rt
