//===- many_processes.cpp - groups as of many processes -------------------===//

#include "many_processes.h"

#include "runtime/comm/host/rendezvous.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

using namespace zero::rt;

namespace {

/// Copies messages through memory of this process.
class LocalLink : public Link {
public:
  Status exchange(const Call &, int self, std::span<const Message> messages) override {
    std::unique_lock<std::mutex> lock(mutex);
    for (const Message &message : messages)
      if (message.send)
        pairs[{self, message.peer}].emplace_back(static_cast<const char *>(message.data),
                                                 message.bytes);
    sent.notify_all();
    for (const Message &message : messages) {
      if (message.send)
        continue;
      auto &queue = pairs[{message.peer, self}];
      sent.wait(lock, [&] { return !queue.empty() || !reason.ok(); });
      if (!reason.ok())
        return reason;
      if (queue.front().size() != message.bytes)
        return Status(ZERO_RT_INTERNAL, "a message of another size");
      std::memcpy(message.data, queue.front().data(), message.bytes);
      queue.pop_front();
    }
    return {};
  }
  void abort(const Status &why) override {
    std::lock_guard<std::mutex> lock(mutex);
    reason = why;
    sent.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable sent;
  std::map<std::pair<int, int>, std::deque<std::string>> pairs;
  Status reason;
};

} // namespace

std::vector<std::unique_ptr<Communicator>> makeApart(const GroupOptions &options,
                                                     const std::vector<int> &nodes) {
  const Placement placement(/*ranksPerProcess=*/1, nodes);
  auto link = std::make_shared<LocalLink>();
  std::vector<std::shared_ptr<RendezvousPage>> pages;
  for (int node = 0; node < placement.nodes(); ++node)
    pages.push_back(RendezvousPage::make(int(placement.ranksOf(node).size())));
  std::vector<std::unique_ptr<Communicator>> ends;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const int node = placement.nodeOf(rank);
    const std::vector<int> &members = placement.ranksOf(node);
    std::vector<pid_t> processes(members.size(), ::getpid());
    processes[size_t(placement.placeOf(rank))] = 0;
    ProcessGroup group{
        placement, rank,
        std::make_shared<Rendezvous>(pages[size_t(node)], members, options.timeoutSeconds),
        PeerMemory(processes), link};
    ends.push_back(std::move(makeProcessGroup(options, std::move(group)).front()));
  }
  return ends;
}

std::vector<std::unique_ptr<Communicator>> makeOneNode(const GroupOptions &options) {
  return makeApart(options, std::vector<int>(size_t(options.ranks), 0));
}

std::vector<std::unique_ptr<Communicator>> makeThreeNodes(const GroupOptions &options) {
  std::vector<int> nodes;
  for (int rank = 0; rank < options.ranks; ++rank)
    nodes.push_back(options.ranks < 3 ? rank : rank * 3 / options.ranks);
  return makeApart(options, nodes);
}

std::vector<std::unique_ptr<Communicator>> makePairs(const GroupOptions &options) {
  std::vector<int> nodes;
  for (int rank = 0; rank < options.ranks; ++rank)
    nodes.push_back(rank / 2);
  return makeApart(options, nodes);
}
