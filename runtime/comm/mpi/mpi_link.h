//===- mpi_link.h - messages by MPI -----------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_MPI_MPI_LINK_H
#define RUNTIME_COMM_MPI_MPI_LINK_H

#include "runtime/comm/link.h"
#include "runtime/comm/mpi/transfers.h"

namespace zero::rt {

struct MpiLinkOptions {
  std::shared_ptr<Mpi> mpi;
  std::vector<int> processOfRank;
  double timeoutSeconds = 60; ///< of each exchange
  uint64_t pieceBytes = Transfers::kMostPieceBytes;
};

/// A link by MPI: one at a time for each Mpi. Ranks of the same process may exchange messages, too.
/// A waiting thread polls; after 0.2 ms it mostly sleeps.
class MpiLink final : public Link {
public:
  /// Not collective. All processes give the same options.
  static Status open(const MpiLinkOptions &options, std::unique_ptr<MpiLink> &link);

  Status exchange(const Call &call, int self, std::span<const Message> messages) override;
  /// Also abandons Mpi.
  void abort(const Status &reason) override;

private:
  /// What a rank of this process needs in exchange(), to be used again.
  struct Work {
    std::vector<Transfer> list;
    Transfers transfers;
  };
  explicit MpiLink(const MpiLinkOptions &options) : options(options) {}
  int tagOf(int source, int destination) const;
  Status timeOut(const Call &call, const Work &work, std::span<const Message> messages);
  Status abortReason();

  const MpiLinkOptions options;
  std::vector<int> places;                  ///< of each rank, among those of its process
  int mostPlaces = 0;                       ///< ranks in the process that has most
  std::vector<std::unique_ptr<Work>> works; ///< by place, for ranks of this process

  std::atomic<bool> aborted{false};
  std::mutex mutex; ///< protects the following field
  Status reason;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_MPI_MPI_LINK_H
