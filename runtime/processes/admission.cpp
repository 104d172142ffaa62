//===- admission.cpp - who may join the job -------------------------------===//

#include "runtime/processes/admission.h"

namespace zero::rt {

/// Connections that have not joined. More of them wait in the kernel.
static constexpr size_t kStrangers = 256;
/// How long one may say nothing, and how long it may take to confirm.
static constexpr double kHelloSeconds = 5, kConfirmSeconds = 30;

void Admission::prepare(PollSet &polls) {
  const bool isFull = strangers.size() >= kStrangers;
  const bool isPaused = Clock::now() < pause;
  slot = !listener.isOpen() || isFull || isPaused ? -1 : polls.add(listener.get(), POLLIN);
  if (isPaused)
    polls.wakeAt(pause);
  for (Stranger &each : strangers) {
    each.connection->prepare(polls);
    polls.wakeAt(each.end);
  }
}

void Admission::accept() {
  int error = 0;
  while (strangers.size() < kStrangers && error == 0)
    if (Socket socket = acceptFrom(listener, error); socket.isOpen())
      strangers.push_back(
          {.connection = std::make_unique<Connection>(std::move(socket), kLargestHello),
           .end = after(kHelloSeconds)});
  // Out of descriptors or memory: the connection stays, and poll() would return at once.
  if (error != EAGAIN && error != EWOULDBLOCK && error != 0)
    pause = after(0.1);
}

/// False: this is not a process of Zero.
bool Admission::take(Stranger &stranger, Message &&message) const {
  if (stranger.isRefused)
    return true;
  if (stranger.isConfirmed) {
    stranger.early.push_back(std::move(message));
    return true;
  }
  if (stranger.hello) {
    stranger.isConfirmed = message.header.kind == Kind::Confirm;
    return stranger.isConfirmed;
  }
  Hello hello;
  if (!Hello::decode(message, hello))
    return false;
  std::optional<Message> refused = check(hello);
  stranger.isRefused = refused.has_value();
  std::string body;
  append(body, own);
  stranger.connection->send(refused ? std::move(*refused)
                                    : handshakeMessage(Kind::Welcome, std::move(body)));
  stranger.hello = std::move(hello);
  stranger.end = after(kConfirmSeconds);
  return true;
}

void Admission::serve(const PollSet &polls) {
  for (Stranger &each : strangers)
    each.connection->serve(polls,
                           [&](Message &&message) { return take(each, std::move(message)); });
  const bool mayAccept = polls.events(slot) != 0;
  std::vector<Stranger> others;
  for (Stranger &each : strangers) {
    if (each.isConfirmed)
      admit(std::move(each));
    else if (!each.isRefused && !each.connection->isLost() && Clock::now() < each.end)
      others.push_back(std::move(each));
  }
  strangers = std::move(others);
  if (mayAccept)
    accept();
}

void Admission::close() {
  listener = Socket();
  slot = -1;
  strangers.clear();
}

} // namespace zero::rt
