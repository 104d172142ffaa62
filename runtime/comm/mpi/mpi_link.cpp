//===- mpi_link.cpp - messages by MPI -------------------------------------===//

#include "runtime/comm/mpi/mpi_link.h"

#include <algorithm>
#include <set>

namespace zero::rt {

using Clock = std::chrono::steady_clock;

Status MpiLink::open(const MpiLinkOptions &options, std::unique_ptr<MpiLink> &link) {
  std::unique_ptr<MpiLink> made(new MpiLink(options));
  Mpi &mpi = *options.mpi;
  std::vector<int> ranks(mpi.processes()); // of each process
  for (int process : options.processOfRank) {
    if (process < 0 || process >= mpi.processes())
      return fail(ZERO_RT_INVALID_ARGUMENT, "rank %zu is in process %d, but MPI has %d",
                  made->places.size(), process, mpi.processes());
    made->places.push_back(ranks[process]++);
  }
  made->mostPlaces = *std::ranges::max_element(ranks);
  if (int64_t(made->mostPlaces) * made->mostPlaces > mpi.largestTag())
    return fail(ZERO_RT_UNSUPPORTED, "%d ranks of one process are too many: %s has only %d tags",
                made->mostPlaces, mpi.library(), mpi.largestTag());
  for (int place = 0; place < ranks[mpi.process()]; ++place)
    made->works.emplace_back(new Work{{}, Transfers(mpi, options.pieceBytes)});
  link = std::move(made);
  return {};
}

/// Distinguishes pairs of ranks of the same two processes. Mpi uses tag 0.
int MpiLink::tagOf(int source, int destination) const {
  return 1 + places[source] * mostPlaces + places[destination];
}

Status MpiLink::exchange(const Call &call, int self, std::span<const Message> messages) {
  if (aborted.load(std::memory_order_acquire))
    return abortReason();
  Work &work = *works[places[self]];
  work.list.clear();
  for (const Message &message : messages)
    work.list.push_back({options.processOfRank[message.peer],
                         message.send ? tagOf(self, message.peer) : tagOf(message.peer, self),
                         message.data, message.bytes, message.send});
  const auto deadline = Clock::now() + std::chrono::duration<double>(options.timeoutSeconds);
  Status status = work.transfers.run(
      work.list, std::chrono::time_point_cast<Clock::duration>(deadline), aborted);
  if (!status.ok()) {
    abort(fail(status.getCode(), "rank %d at collective %llu ('%s'): %s", self,
               static_cast<unsigned long long>(call.index), escape(call.label).c_str(),
               status.getMessage().c_str()));
    return abortReason();
  }
  if (work.transfers.complete())
    return {};
  return aborted.load(std::memory_order_acquire) ? abortReason() : timeOut(call, work, messages);
}

Status MpiLink::timeOut(const Call &call, const Work &work, std::span<const Message> messages) {
  std::set<int> peers;
  for (size_t i = 0; i < messages.size(); ++i)
    if (!work.transfers.complete(i))
      peers.insert(messages[i].peer);
  std::string missing;
  for (int peer : peers)
    missing += (missing.empty() ? "" : ", ") + std::to_string(peer);
  abort(fail(ZERO_RT_TIMEOUT, "rank%s %s did not arrive at collective %llu ('%s') within %g s",
             peers.size() == 1 ? "" : "s", missing.c_str(),
             static_cast<unsigned long long>(call.index), escape(call.label).c_str(),
             options.timeoutSeconds));
  return abortReason();
}

void MpiLink::abort(const Status &why) {
  options.mpi->abandon();
  std::lock_guard<std::mutex> lock(mutex);
  if (reason.ok())
    reason = why;
  aborted.store(true, std::memory_order_release);
}

Status MpiLink::abortReason() {
  std::lock_guard<std::mutex> lock(mutex);
  return reason;
}

} // namespace zero::rt
