//===- hub.cpp - the connections of process 0 -----------------------------===//
//
// All messages pass here: this thread delivers those to process 0, and passes on the others.
//
//===----------------------------------------------------------------------===//

#include "runtime/processes/admission.h"
#include "runtime/processes/hub_errors.h"
#include "runtime/processes/post.h"

namespace zero::rt {

namespace {

class Hub final : public Post {
public:
  Hub(const ControlOptions &options, const Address &address, Inbox &inbox)
      : Post(options, inbox), address(address), peers(options.processes),
        gathering(options.processes) {
    peers[0].name = Hello::own(options).name;
  }
  ~Hub() override { close(); }

  Status open(Time deadline) override;
  void send(Message message) override;

private:
  void sayGoodbye() override;
  void prepare(PollSet &polls) override;
  void serve(const PollSet &polls) override;
  bool isClosed() const override;

  /// Whether process `process` has ended, or the job.
  bool isOver(int process) const {
    return failure || (process > 0 && process < options.processes &&
                       (peers[process].hasLeft || peers[process].isLost));
  }
  Refusal refusalOf(const Hello &hello, const Status &status);
  void admit(const Hello &hello, std::unique_ptr<Connection> connection);

  bool take(int from, Message &&message);
  void deliver(Message &&message);
  void gather(const Message &part);
  void checkGathering();
  void failJob(int from, const Status &reason);
  void leave(int process);
  void start();

  Address address;
  Peers peers;
  std::optional<Admission> admission;
  Gathering gathering;
  int joined = 1;
  std::optional<Status> failure;
};

Status Hub::open(Time deadline) {
  if (options.processes == 1) {
    std::lock_guard lock(mutex);
    start();
    return startThread();
  }
  Socket listener;
  ZERO_RT_TRY(options.listener >= 0 ? adoptListener(options.listener, listener)
                                    : listenAt(address, deadline, listener));
  admission.emplace(std::move(listener), options, peers[0].name,
                    [this](const Hello &hello, std::unique_ptr<Connection> connection) {
                      admit(hello, std::move(connection));
                    });
  ZERO_RT_TRY(startThread());
  std::unique_lock lock(mutex);
  const auto isDone = [&] { return failure || joined == options.processes; };
  if (!changed.wait_until(lock, deadline, isDone))
    failJob(kEveryone, notConnected(options, peers, admission->turnedAway()));
  return failure.value_or(Status());
}

/// Why a process that knows the secret cannot join. One that does not fit ends a job that has not
/// started, since it will not be complete.
Refusal Hub::refusalOf(const Hello &hello, const Status &status) {
  if (joined < options.processes)
    failJob(kEveryone, status);
  else if (isOver(hello.process))
    return Refusal::Ended;
  return Refusal::Mismatch;
}

void Hub::admit(const Hello &hello, std::unique_ptr<Connection> connection) {
  if (const Status status = checkHello(options, peers, hello); !status.ok()) {
    const Refusal why = refusalOf(hello, status);
    connection->send(refusal(why, why == Refusal::Ended
                                      ? rt::fail(ZERO_RT_INVALID_ARGUMENT,
                                                 "the job at %s has ended", address.text.c_str())
                                      : status));
    return;
  }
  Peer &peer = peers[hello.process] = {hello.name, std::move(connection)};
  peer.connection->setLimit(kLargestMessage);
  peer.connection->send(handshakeMessage(Kind::Admitted));
  if (failure)
    peer.connection->send(failureMessage(Kind::Failed, kEveryone, *failure));
  if (++joined == options.processes && !failure)
    start();
}

/// All have joined.
void Hub::start() {
  std::string body;
  for (const Peer &each : peers)
    append(body, each.name);
  send(Message(Kind::Start, kEveryone, kEveryone, std::move(body)));
  changed.notify_all();
}

void Hub::send(Message message) {
  const int from = message.header.from, to = message.header.to;
  for (int process = 1; process < options.processes; ++process)
    if (Peer &peer = peers[process];
        peer.connection && !peer.hasLeft && (to == process || (to == kEveryone && from != process)))
      peer.connection->send(message);
  if (to == 0 || (to == kEveryone && from != 0))
    deliver(std::move(message));
}

void Hub::deliver(Message &&message) {
  const int from = message.header.from;
  const Status status = statusOf(message);
  switch (message.header.kind) {
  case Kind::Gather:
    return gather(message);
  case Kind::Fail:
    return failJob(from, {status.getCode(), peers[from].name.brief() + ": " + status.getMessage()});
  case Kind::FailAll:
    return failJob(from, status);
  default:
    inbox.receive(std::move(message));
  }
}

/// Takes a message of another process; false: it is not understood.
bool Hub::take(int from, Message &&message) {
  if (!setEnds(message.header, from, options.processes))
    return false;
  if (message.header.kind == Kind::Left)
    leave(from);
  else
    send(std::move(message));
  return true;
}

/// Ends the job, unless it has failed already.
void Hub::failJob(int from, const Status &reason) {
  if (failure)
    return;
  failure = reason;
  Message message = failureMessage(Kind::Failed, from, reason);
  for (Peer &peer : peers)
    if (peer.connection && !peer.hasLeft)
      peer.connection->send(message);
  inbox.receive(std::move(message));
  changed.notify_all();
}

void Hub::gather(const Message &part) {
  if (!gathering.add(part, options.timeoutSeconds))
    return failJob(kEveryone, differentCalls(peers, gathering, part));
  if (gathering.bytes() > kLargestGather)
    return failJob(kEveryone, rt::fail(ZERO_RT_INVALID_ARGUMENT,
                                       "'%s' gathers more than %llu MiB from all processes",
                                       gathering.what().c_str(),
                                       static_cast<unsigned long long>(kLargestGather >> 20)));
  if (!gathering.isComplete())
    return checkGathering();
  send(gathering.take());
}

/// Fails if the gathering waits for a process that has left, or has waited too long.
void Hub::checkGathering() {
  if (!gathering.isActive() || failure)
    return;
  for (int process = 0; process < options.processes; ++process)
    if (peers[process].hasLeft && gathering.isMissing(process))
      return failJob(kEveryone,
                     rt::fail(ZERO_RT_ABORTED, "%s ended without arriving at '%s'",
                              peers[process].name.full().c_str(), gathering.what().c_str()));
  if (Clock::now() >= gathering.deadline())
    failJob(kEveryone, notArrived(options, peers, gathering));
}

void Hub::leave(int process) {
  peers[process].hasLeft = true;
  send(Message(Kind::Left, process, kEveryone));
  if (joined < options.processes)
    failJob(process, rt::fail(ZERO_RT_ABORTED, "%s ended before all processes had connected",
                              peers[process].name.full().c_str()));
  checkGathering();
}

void Hub::sayGoodbye() {
  if (admission)
    admission->close();
  peers[0].hasLeft = true;
  checkGathering();
  send(Message(Kind::Left, 0, kEveryone));
}

void Hub::prepare(PollSet &polls) {
  for (Peer &peer : peers) {
    if (!peer.connection)
      continue;
    if ((closing || peer.hasLeft) && !peer.connection->isSending())
      peer.connection->finish();
    peer.connection->prepare(polls);
  }
  if (admission)
    admission->prepare(polls);
  if (gathering.isActive() && !failure)
    polls.wakeAt(gathering.deadline());
}

void Hub::serve(const PollSet &polls) {
  for (int process = 1; process < options.processes; ++process) {
    Peer &peer = peers[process];
    if (!peer.connection || peer.isLost)
      continue;
    peer.connection->serve(polls,
                           [&](Message &&message) { return take(process, std::move(message)); });
    peer.isLost = peer.connection->isLost();
    if (peer.isLost && !peer.hasLeft && !closing) {
      failJob(process, rt::fail(ZERO_RT_ABORTED, "%s %s", peer.name.full().c_str(),
                                peer.connection->lossText().c_str()));
      send(Message(Kind::Left, process, kEveryone)); // will not answer questions
    }
  }
  if (admission)
    admission->serve(polls);
  checkGathering();
}

bool Hub::isClosed() const {
  return std::all_of(peers.begin(), peers.end(), [](const Peer &peer) {
    return !peer.connection || peer.connection->isLost();
  });
}

} // namespace

std::unique_ptr<Post> makeHub(const ControlOptions &options, const Address &address, Inbox &inbox) {
  return std::make_unique<Hub>(options, address, inbox);
}

} // namespace zero::rt
