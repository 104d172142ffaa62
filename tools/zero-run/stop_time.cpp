//===- stop_time.cpp - how long a run takes to stop -----------------------===//

#include "stop_time.h"

#include "progress.h"
#include "runtime/api/capi.h"
#include "runtime/checkpoint/state_table.h"
#include "runtime/io/disk_rate.h"
#include "runtime/processes/world.h"

using namespace zero::rt;

namespace zero::run {

/// Whether a rank is on the node of this process.
static bool isHere(const Job &job, int rank, int ranks) {
  if (!job.getWorld())
    return true;
  const rt::World &world = *job.getWorld()->world;
  const size_t process = size_t(rank * world.processes() / ranks);
  return world.getProcesses()[process].node == world.node();
}

/// What the ranks of this node write to a checkpoint.
static Status countState(const Options &options, const Job &job, const Executable &executable,
                         uint64_t &bytes) {
  const int ranks = infoOf(executable).ranks;
  std::vector<StateTensor> state;
  std::vector<int> nodes;
  ZERO_RT_TRY(listState(executable->program->tables(), state));
  for (int rank = 0; rank < ranks && options.session.local_state; ++rank)
    nodes.push_back(isHere(job, rank, ranks) ? 0 : 1); // of others only that they are others
  const std::vector<std::vector<Piece>> pieces = divideState(state, ranks, nodes);
  bytes = 0;
  for (int rank = 0; rank < ranks; ++rank)
    for (const Piece &piece : pieces[size_t(rank)])
      if (isHere(job, rank, ranks))
        bytes += piece.count * sizeOf(state[piece.tensor].dtype());
  return {};
}

std::string stopTimeText(const Options &options, const Job &job, const Executable &executable,
                         double stepSeconds) {
  // Files of ranks, the manifest, the folder of the checkpoint, the log, and their folders.
  constexpr int kFlushes = 6;
  uint64_t bytes;
  WriteSpeed speed;
  if (options.quiet || options.saveState.empty() || !job.isFirst() ||
      !countState(options, job, executable, bytes).ok() ||
      !measureWrites(options.saveState, speed).ok())
    return {}; // the first checkpoint says what is wrong with the folder
  const double seconds =
      stepSeconds + double(bytes) / speed.bytesPerSecond + kFlushes * speed.flushSeconds;
  return format(
      "on SIGTERM the state is saved within about %.2g s: a step of %.2g s, and %s at %s/s",
      seconds, stepSeconds, bytesText(bytes).c_str(),
      bytesText(uint64_t(speed.bytesPerSecond)).c_str());
}

} // namespace zero::run
