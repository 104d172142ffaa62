//===- admission.cpp - who may join the job -------------------------------===//

#include "runtime/processes/admission.h"

namespace zero::rt {

/// Connections that have not joined. More of them wait in the kernel.
static constexpr size_t kStrangers = 256;
/// Connections that are accepted before those of the job get their turn.
static constexpr int kAcceptedAtOnce = 32;
/// How long one may say nothing, and how long it may take to confirm.
static constexpr double kHelloSeconds = 5, kConfirmSeconds = 10;

void Admission::prepare(PollSet &polls) {
  const bool isPaused = Clock::now() < pause;
  slot = !listener.isOpen() || isPaused ? -1 : polls.add(listener.get(), POLLIN);
  if (isPaused)
    polls.wakeAt(pause);
  for (Stranger &each : strangers) {
    each.connection->prepare(polls);
    polls.wakeAt(each.end);
  }
}

void Admission::turnAway(std::string why) {
  ++refused;
  lastReason = std::move(why);
}

std::string Admission::turnedAway() const {
  return refused == 0 ? std::string()
                      : format("%llu other connection%s turned away, the last one because %s",
                               static_cast<unsigned long long>(refused),
                               refused == 1 ? " was" : "s were", lastReason.c_str());
}

/// A random stranger leaves, so that one who connects again and again does not find out how to stay
/// while others leave. One that has said a Hello of this job stays until its time is over.
void Admission::makePlace() {
  if (strangers.size() < kStrangers)
    return;
  std::vector<size_t> silent;
  for (size_t i = 0; i < strangers.size(); ++i)
    if (!strangers[i].hello)
      silent.push_back(i);
  const size_t index =
      silent.empty() ? random() % strangers.size() : silent[random() % silent.size()];
  strangers.erase(strangers.begin() + ptrdiff_t(index));
  turnAway(format("more than %zu were connected", kStrangers));
}

void Admission::accept() {
  int error = 0;
  for (int count = 0; count < kAcceptedAtOnce && error == 0; ++count) {
    Socket socket = acceptFrom(listener, error);
    if (error == 0 && !socket.isOpen())
      turnAway("it came from another user");
    if (!socket.isOpen())
      continue;
    makePlace();
    strangers.push_back(
        {.connection = std::make_unique<Connection>(std::move(socket), kLargestHello),
         .end = after(kHelloSeconds)});
  }
  // Out of descriptors or memory: the connection stays, and poll() would return at once.
  if (error != EAGAIN && error != EWOULDBLOCK && error != ECONNABORTED && error != 0)
    pause = after(0.1);
}

void Admission::refuse(Stranger &stranger, Refusal why, const Status &status) {
  stranger.isRefused = true;
  stranger.connection->send(refusal(why, status));
  turnAway("of this: " + status.getMessage());
}

/// Answers with a proof of the secret. False: this is not a process of Zero.
bool Admission::takeHello(Stranger &stranger, Message &&message) {
  Hello hello;
  if (!Hello::decode(message, hello))
    return false;
  if (hello.protocol != kProtocol) {
    refuse(stranger, Refusal::Mismatch, checkVersion(own, hello));
    return true;
  }
  if (hello.job != options.job) {
    refuse(stranger, Refusal::OtherJob,
           rt::fail(ZERO_RT_INVALID_ARGUMENT, "%s listens at %s for another job",
                    own.full().c_str(), escape(options.address).c_str()));
    return true;
  }
  Welcome welcome{own, newChallenge(), {}};
  stranger.acquaintance.emplace(options.secret, hello, welcome);
  welcome.proof = stranger.acquaintance->proofOfHub();
  stranger.connection->send(welcome.encode());
  stranger.hello = std::move(hello);
  stranger.end = after(kConfirmSeconds);
  return true;
}

bool Admission::take(Stranger &stranger, Message &&message) {
  if (stranger.isRefused)
    return true;
  if (!stranger.hello)
    return takeHello(stranger, std::move(message));
  if (stranger.isConfirmed || message.header.kind != Kind::Confirm)
    return false;
  if (!isSameProof(message.text(), stranger.acquaintance->proofOfMember())) {
    turnAway("it did not know the secret of the job");
    return false;
  }
  stranger.acquaintance->sealAtHub(*stranger.connection);
  stranger.isConfirmed = true;
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
      admit(*each.hello, std::move(each.connection));
    else if (!each.isRefused && !each.connection->isLost() && Clock::now() < each.end)
      others.push_back(std::move(each));
    else if (!each.isRefused && !each.hello)
      turnAway("it was no process of Zero");
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
