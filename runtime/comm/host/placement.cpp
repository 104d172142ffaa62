//===- placement.cpp - the nodes of ranks ---------------------------------===//

#include "runtime/comm/host/placement.h"

namespace zero::rt {

Placement::Placement(int ranksPerProcess, const std::vector<int> &nodeOfProcess)
    : perProcess(ranksPerProcess) {
  for (const int node : nodeOfProcess)
    for (int i = 0; i < perProcess; ++i) {
      if (size_t(node) >= members.size())
        members.resize(size_t(node) + 1);
      std::vector<int> &all = members[size_t(node)];
      placeOfRank.push_back(int(all.size()));
      all.push_back(int(nodeOfRank.size()));
      nodeOfRank.push_back(node);
    }
}

bool Placement::hasNodesOf(int size) const {
  if (size <= 0 || size * nodes() != ranks())
    return false;
  for (int rank = 0; rank < ranks(); ++rank)
    if (nodeOf(rank) != rank / size)
      return false;
  return true;
}

} // namespace zero::rt
