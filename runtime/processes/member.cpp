//===- member.cpp - the connection of a process to process 0 --------------===//

#include "runtime/processes/post.h"

namespace zero::rt {

namespace {

class Member final : public Post {
public:
  Member(const ControlOptions &options, std::vector<Address> addresses, Inbox &inbox)
      : Post(options, inbox), addresses(std::move(addresses)) {}
  ~Member() override { close(); }

  Status open(Time deadline) override;
  void send(Message message) override { connection->send(std::move(message)); }

private:
  void sayGoodbye() override {
    connection->send(Message(Kind::Left, options.process, 0));
    hasLeft = true;
  }
  void prepare(PollSet &polls) override;
  void serve(const PollSet &polls) override;
  bool isClosed() const override { return connection->isLost() || hubHasLeft; }

  void deliver(Message &&message);

  const std::vector<Address> addresses;
  ProcessName hub;
  std::unique_ptr<Connection> connection;
  bool hasLeft = false, hubHasLeft = false, lossIsKnown = false;
};

Status Member::open(Time deadline) {
  Joined joined;
  ZERO_RT_TRY(joinJob(options, addresses, deadline, joined));
  connection = std::move(joined.connection);
  hub = std::move(joined.hub);
  std::lock_guard lock(mutex);
  for (Message &message : joined.early)
    deliver(std::move(message));
  return startThread();
}

/// Delivers a message of process 0.
void Member::deliver(Message &&message) {
  hubHasLeft |= message.header.kind == Kind::Left && message.header.from == 0;
  inbox.receive(std::move(message));
}

void Member::prepare(PollSet &polls) {
  if (hasLeft && !connection->isSending())
    connection->finish();
  if (!hubHasLeft)
    connection->prepare(polls);
}

void Member::serve(const PollSet &polls) {
  if (hubHasLeft)
    return;
  connection->serve(polls, [&](Message &&message) {
    deliver(std::move(message));
    return true;
  });
  if (hubHasLeft)
    connection->finish(); // process 0 waits for this
  if (!connection->isLost() || hubHasLeft || lossIsKnown)
    return;
  lossIsKnown = true;
  if (!hasLeft)
    inbox.receive(failureMessage(
        Kind::Failed, 0,
        rt::fail(ZERO_RT_ABORTED, "%s %s", hub.full().c_str(), connection->lossText().c_str())));
  inbox.receive(Message(Kind::Left, 0, options.process)); // nobody will answer questions
}

} // namespace

std::unique_ptr<Post> makeMember(const ControlOptions &options, std::vector<Address> addresses,
                                 Inbox &inbox) {
  return std::make_unique<Member>(options, std::move(addresses), inbox);
}

} // namespace zero::rt
