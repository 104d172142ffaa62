//===- saved_bytes.cpp - bytes of a checkpoint ----------------------------===//

#include "saved_bytes.h"

#include "runtime/api/capi.h"
#include "runtime/checkpoint/state_table.h"
#include "runtime/processes/world.h"

using namespace zero::rt;

namespace zero::run {

namespace {
/// Where the ranks of an executable are.
struct Places {
  const Job &job;
  int ranks;

  int processOf(int rank) const { return rank * std::max(job.processes(), 1) / ranks; }
  bool isInProcess(int rank) const {
    return !job.getWorld() || processOf(rank) == job.getWorld()->world->process();
  }
  bool isOnNode(int rank) const {
    if (!job.getWorld())
      return true;
    const rt::World &world = *job.getWorld()->world;
    return world.getProcesses()[size_t(processOf(rank))].node == world.node();
  }
};
} // namespace

/// `counts`: the ranks whose parts to add up.
static Status countSaved(const Options &options, const Places &places, const Executable &executable,
                         bool (Places::*counts)(int) const, uint64_t &bytes) {
  std::vector<StateTensor> state;
  std::vector<int> nodes;
  ZERO_RT_TRY(listState(executable->program->tables(), state));
  for (int rank = 0; rank < places.ranks && options.session.local_state; ++rank)
    nodes.push_back(places.isOnNode(rank) ? 0 : 1); // of others only that they are others
  const std::vector<std::vector<Piece>> pieces = divideState(state, places.ranks, nodes);
  bytes = 0;
  for (int rank = 0; rank < places.ranks; ++rank)
    for (const Piece &piece : pieces[size_t(rank)])
      if ((places.*counts)(rank))
        bytes += piece.count * sizeOf(state[piece.tensor].dtype());
  return {};
}

Status countSavedByNode(const Options &options, const Job &job, const Executable &executable,
                        uint64_t &bytes) {
  return countSaved(options, {job, infoOf(executable).ranks}, executable, &Places::isOnNode, bytes);
}

Status countSavedByProcess(const Options &options, const Job &job, const Executable &executable,
                           uint64_t &bytes) {
  return countSaved(options, {job, infoOf(executable).ranks}, executable, &Places::isInProcess,
                    bytes);
}

} // namespace zero::run
