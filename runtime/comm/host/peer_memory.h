//===- peer_memory.h - memory of the ranks of a node ------------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_PEER_MEMORY_H
#define RUNTIME_COMM_HOST_PEER_MEMORY_H

#include "runtime/support/status.h"

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace zero::rt {

/// Reads the memory of ranks of the same node, which may be in other processes.
class PeerMemory {
public:
  PeerMemory() = default;
  /// `processes`: the process of each rank, by place; 0: this one.
  explicit PeerMemory(std::vector<pid_t> processes) : processes(std::move(processes)) {}

  /// Whether this process can use addresses of the rank at `place` as they are.
  bool isHere(int place) const { return processes[size_t(place)] == 0; }
  /// How many ranks are in other processes.
  int elsewhere() const;

  /// Copies `bytes` at `from`, an address of the rank at `place`, to `to`. Fails if its process has
  /// ended or does not allow it.
  Status read(int place, const void *from, void *to, uint64_t bytes) const;

private:
  std::vector<pid_t> processes;
};

/// Allows other processes of this user to read the memory of this one, where the kernel (Yama)
/// otherwise restricts that to parents.
void allowPeersToRead();

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_PEER_MEMORY_H
