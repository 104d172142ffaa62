//===- transfers.cpp - wait for messages of MPI ---------------------------===//

#include "runtime/comm/mpi/transfers.h"

#include <algorithm>
#include <sched.h>
#include <thread>

namespace zero::rt {

using Clock = std::chrono::steady_clock;

namespace {

/// What a thread does between two looks at its messages. MPI moves data only while it is called,
/// some of its protocols a few KiB at a time, so a thread that sleeps slows its own messages down.
/// It yields its core instead, which costs others nothing, and sleeps only when the messages should
/// have arrived: then a peer is late.
class Pause {
public:
  explicit Pause(uint64_t bytes)
      : patience(std::chrono::milliseconds(1) + std::chrono::nanoseconds(bytes * 1000 / kSlowest)) {
  }
  void operator()() const {
    const auto waited = Clock::now() - begin;
    if (waited < kSpin) // for the latency of short messages
      return;
    if (waited < patience)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

private:
  static constexpr uint64_t kSlowest = 256; ///< MB/s of a network
  static constexpr std::chrono::microseconds kSpin{20};
  const Clock::time_point begin = Clock::now();
  const std::chrono::nanoseconds patience;
};

} // namespace

void Transfers::prepare(std::span<const Transfer> list) {
  pieces.clear();
  pending.assign(list.size(), 0);
  for (bool send : {false, true})
    for (size_t t = 0; t < list.size(); ++t) {
      if (list[t].send != send)
        continue;
      uint64_t offset = 0;
      do { // a message without data has one piece
        const uint64_t bytes = std::min(pieceBytes, list[t].bytes - offset);
        pieces.push_back({int(t), int(bytes), static_cast<char *>(list[t].data) + offset});
        ++pending[t];
        offset += bytes;
      } while (offset < list[t].bytes);
    }
  left = int(pieces.size());
  const size_t words = (mpi.functions().requestBytes * pieces.size() + 7) / 8;
  requests.resize(std::max(requests.size(), words));
  done.resize(std::max(done.size(), pieces.size()));
}

Status Transfers::start(std::span<const Transfer> list) {
  const ZeroMpiPlugin &functions = mpi.functions();
  for (started = 0; started < int(pieces.size()); ++started) {
    const Piece &piece = pieces[started];
    const Transfer &transfer = list[piece.transfer];
    const auto post = [&](auto function, const char *name) {
      const auto guard = mpi.guard();
      return mpi.check(function(piece.data, piece.bytes, transfer.process, transfer.tag,
                                requests.data(), started),
                       name);
    };
    ZERO_RT_TRY(transfer.send ? post(functions.send, "MPI_Isend")
                              : post(functions.receive, "MPI_Irecv"));
  }
  return {};
}

Status Transfers::poll(std::span<const Transfer> list, bool &progress) {
  int completed = 0;
  {
    const auto guard = mpi.guard();
    ZERO_RT_TRY(mpi.check(
        mpi.functions().test(requests.data(), int(pieces.size()), done.data(), &completed),
        "MPI_Testsome"));
  }
  for (int i = 0; i < completed; ++i) {
    const Piece &piece = pieces[done[i].index];
    if (!list[piece.transfer].send && done[i].bytes != piece.bytes)
      return fail(ZERO_RT_INTERNAL, "expected a message of %d bytes, got %d", piece.bytes,
                  done[i].bytes);
    --pending[piece.transfer];
    --left;
  }
  progress = completed > 0;
  return {};
}

Status Transfers::wait(std::span<const Transfer> list, Clock::time_point deadline,
                       const std::atomic<bool> &stop) {
  uint64_t bytes = 0;
  for (const Transfer &transfer : list)
    bytes += transfer.bytes;
  for (Pause pause(bytes); left > 0;) {
    bool progress = false;
    ZERO_RT_TRY(poll(list, progress));
    if (progress)
      continue;
    if (stop.load(std::memory_order_acquire) || Clock::now() > deadline)
      break;
    pause();
  }
  return {};
}

Status Transfers::run(std::span<const Transfer> list, Clock::time_point deadline,
                      const std::atomic<bool> &stop) {
  prepare(list);
  Status status = start(list);
  if (status.ok())
    status = wait(list, deadline, stop);
  if (left > 0) {
    const int receives = int(std::ranges::count_if(
        pieces, [&](const Piece &piece) { return !list[piece.transfer].send; }));
    const auto guard = mpi.guard();
    mpi.functions().drop(requests.data(), std::min(receives, started), started);
  }
  return status;
}

} // namespace zero::rt
