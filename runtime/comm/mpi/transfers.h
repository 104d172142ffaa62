//===- transfers.h - wait for messages of MPI -------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_MPI_TRANSFERS_H
#define RUNTIME_COMM_MPI_TRANSFERS_H

#include "runtime/comm/mpi/mpi.h"

#include <chrono>
#include <span>

namespace zero::rt {

/// A message to or from a process.
struct Transfer {
  int process, tag;
  void *data;
  uint64_t bytes;
  bool send;
};

/// Messages of one thread. Allocates nothing if the messages are not more than in an earlier run.
class Transfers {
public:
  /// MPI counts bytes as int.
  static constexpr uint64_t kMostPieceBytes = uint64_t(1) << 30;

  /// Messages are split into pieces of at most `pieceBytes`, by the sender and the receiver.
  Transfers(Mpi &mpi, uint64_t pieceBytes) : mpi(mpi), pieceBytes(pieceBytes) {}

  /// Starts all messages and waits until they are complete, `stop` is true, or the deadline has
  /// passed. Fails if MPI does, or if a message has another size than expected.
  Status run(std::span<const Transfer> list, std::chrono::steady_clock::time_point deadline,
             const std::atomic<bool> &stop);
  /// Whether all messages of the last run() are complete, or that at an index of its list.
  bool complete() const { return left == 0; }
  bool complete(size_t transfer) const { return pending[transfer] == 0; }

private:
  struct Piece {
    int transfer, bytes;
    char *data;
  };
  void prepare(std::span<const Transfer> list);
  Status start(std::span<const Transfer> list);
  Status poll(std::span<const Transfer> list, bool &progress);
  Status wait(std::span<const Transfer> list, std::chrono::steady_clock::time_point deadline,
              const std::atomic<bool> &stop);

  Mpi &mpi;
  uint64_t pieceBytes;
  std::vector<Piece> pieces; ///< those that are received come first
  int started = 0;           ///< of the pieces
  std::vector<uint64_t> requests;
  std::vector<ZeroMpiDone> done;
  std::vector<int> pending; ///< pieces of each transfer
  int left = 0;             ///< pieces of all transfers
};

} // namespace zero::rt

#endif // RUNTIME_COMM_MPI_TRANSFERS_H
