//===- placement.h - the nodes of ranks -------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_PLACEMENT_H
#define RUNTIME_COMM_HOST_PLACEMENT_H

#include <cstddef>
#include <vector>

namespace zero::rt {

/// Which ranks each process has, and on which node it runs. The ranks of a process are consecutive,
/// those of a node need not be.
class Placement {
public:
  Placement() = default;
  /// `nodeOfProcess`: numbers from 0 on, without gaps, by process.
  Placement(int ranksPerProcess, const std::vector<int> &nodeOfProcess);

  int ranks() const { return int(nodeOfRank.size()); }
  int processes() const { return ranks() / perProcess; }
  int nodes() const { return int(members.size()); }
  int ranksPerProcess() const { return perProcess; }
  int firstRank(int process) const { return process * perProcess; }
  int processOf(int rank) const { return rank / perProcess; }
  int nodeOf(int rank) const { return nodeOfRank[size_t(rank)]; }
  /// The place of a rank among those of its node.
  int placeOf(int rank) const { return placeOfRank[size_t(rank)]; }
  /// In ascending order.
  const std::vector<int> &ranksOf(int node) const { return members[size_t(node)]; }
  /// The one rank of another `node` that receives what `rank` sends to all of it.
  int receiver(int node, int rank) const {
    const std::vector<int> &all = ranksOf(node);
    return all[size_t(placeOf(rank)) % all.size()];
  }
  /// Whether node n has the ranks [n * size, (n + 1) * size).
  bool hasNodesOf(int size) const;

private:
  int perProcess = 1;
  std::vector<int> nodeOfRank, placeOfRank;
  std::vector<std::vector<int>> members; ///< by node
};

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_PLACEMENT_H
