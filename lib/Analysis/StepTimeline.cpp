//===- StepTimeline.cpp - simulate a planned step -------------------------===//
//
// The same simulation as that of an executable (runtime/verify/timeline), before values have
// addresses: commands wait for the producers of their operands.
//
//===----------------------------------------------------------------------===//

#include "zero/Analysis/StepTime.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"

using namespace mlir;

namespace zero {

namespace {
/// By lane: one more than the number of the last command that a value depends on; 0: of none.
using Dependences = std::array<size_t, ZERO_RT_LANES>;

class StepPlayer {
public:
  StepPlayer(Block &block, const OpTimes &times, const LaneShares &shares, bool overlaps)
      : block(block), times(times), shares(shares), overlaps(overlaps) {}

  /// Seconds of `iterations` iterations of the ops of `segment`.
  double play(Segment segment, int64_t iterations);

private:
  double playIteration(Segment segment, int64_t iteration, int64_t iterations);
  Dependences dependencesOf(Operation *op) const;

  Block &block;
  const OpTimes &times;
  const LaneShares shares;
  const bool overlaps;
  llvm::DenseMap<Operation *, Dependences> dependences; ///< of the results of ops
};
} // namespace

/// The lanes of runtime and dialect have the same numbers.
static size_t numberOf(Lane lane) { return size_t(lane); }

Dependences StepPlayer::dependencesOf(Operation *op) const {
  Dependences merged = {};
  for (Value operand : op->getOperands()) {
    auto it = dependences.find(operand.getDefiningOp());
    if (it == dependences.end())
      continue;
    for (auto [own, other] : llvm::zip_equal(merged, it->second))
      own = std::max(own, other);
  }
  return merged;
}

double StepPlayer::playIteration(Segment segment, int64_t iteration, int64_t iterations) {
  rt::Simulation simulation({1});
  dependences.clear();
  for (Operation &op : block) {
    if (!isIn(&op, segment) || !scheduleOf(&op).runsIn(iteration, iterations))
      continue;
    Dependences own = dependencesOf(&op);
    if (auto onLane = dyn_cast<LaneOpInterface>(op)) {
      const Lane lane = onLane.getLane();
      rt::TimedCommand command;
      command.thread =
          uint32_t(numberOf(lane == Lane::Collective && !overlaps ? Lane::Compute : lane));
      command.seconds = times.seconds(&op);
      command.shares = shares[numberOf(lane)];
      for (size_t wait : own)
        if (wait > 0)
          command.waits.push_back(wait - 1);
      const size_t number = simulation.add(std::move(command));
      own = {};
      own[numberOf(lane)] = number + 1;
    }
    dependences[&op] = own;
  }
  simulation.join();
  return simulation.seconds();
}

/// Iterations run one after another. Those between the first and the last are alike.
double StepPlayer::play(Segment segment, int64_t iterations) {
  double seconds = playIteration(segment, 0, iterations);
  if (iterations > 2)
    seconds += double(iterations - 2) * playIteration(segment, 1, iterations);
  if (iterations > 1)
    seconds += playIteration(segment, iterations - 1, iterations);
  return seconds;
}

double simulateStep(ModuleOp module, func::FuncOp step, const OpTimes &times,
                    const planning::Machine &machine, const Ranks &ranks) {
  Block &block = step.getBody().front();
  const bool overlaps = overlapsCollectives(machine, ranks) ||
                        llvm::any_of(block, [](Operation &op) { return isa<TransferOp>(op); });
  StepPlayer player(block, times, laneShares(machine, ranks), overlaps);
  const int64_t microBatches = iterationsOf(module);
  return player.play(Segment::Prologue, microBatches) +
         player.play(Segment::MicroBatch, microBatches) + player.play(Segment::Epilogue, 1);
}

} // namespace zero
