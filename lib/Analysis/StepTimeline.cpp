//===- StepTimeline.cpp - simulate a planned step -------------------------===//
//
// The same simulation as that of an executable (runtime/verify/timeline). Before values have
// addresses, commands wait for the producers of their operands.
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
  StepPlayer(Block &block, const OpTimes &times, const LaneShares &shares, bool overlaps,
             const StepAddresses *addresses)
      : block(block), times(times), shares(shares), overlaps(overlaps), addresses(addresses) {}

  /// Seconds of `iterations` iterations of the ops of `segment`.
  double play(Segment segment, int64_t iterations);

private:
  double playIteration(Segment segment, int64_t iteration, int64_t iterations);
  Dependences dependencesOf(Operation *op) const;
  std::vector<uint32_t> waitsOf(Operation *op, Lane lane, const Dependences &own);

  Block &block;
  const OpTimes &times;
  const LaneShares shares;
  const bool overlaps;
  const StepAddresses *addresses;
  planning::LaneOrder order{ZERO_RT_LANES};             ///< of an iteration, by addresses
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

std::vector<uint32_t> StepPlayer::waitsOf(Operation *op, Lane lane, const Dependences &own) {
  if (addresses)
    return order.add(int(numberOf(lane)), addresses->touchesOf(op));
  std::vector<uint32_t> waits;
  for (size_t wait : own)
    if (wait > 0)
      waits.push_back(uint32_t(wait - 1));
  return waits;
}

double StepPlayer::playIteration(Segment segment, int64_t iteration, int64_t iterations) {
  rt::Simulation simulation({1});
  dependences.clear();
  order = planning::LaneOrder(ZERO_RT_LANES);
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
      for (uint32_t wait : waitsOf(&op, lane, own))
        command.waits.push_back(wait);
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

void StepAddresses::add(Value value, bool writes, std::vector<planning::Touch> &touches) const {
  const Place place = storage.place(value);
  if (place.root < 0)
    return;
  // Arenas are apart from each other.
  constexpr int64_t kArena = int64_t(1) << 60;
  const int64_t begin = int64_t(storage.tier(place)) * kArena + offsets[place.root] + place.offset;
  touches.push_back({begin, begin + tensorBytes(value.getType()), writes});
}

std::vector<planning::Touch> StepAddresses::touchesOf(Operation *op) const {
  std::vector<planning::Touch> touches;
  for (Value operand : op->getOperands())
    add(operand, /*writes=*/false, touches);
  for (Value result : op->getResults())
    add(result, /*writes=*/true, touches);
  if (int64_t workspace = storage.workspaceOf(op); workspace >= 0)
    touches.push_back({offsets[workspace], offsets[workspace] + storage.roots()[workspace].bytes,
                       /*writes=*/true});
  return touches;
}

double simulateStep(ModuleOp module, func::FuncOp step, const planning::Machine &machine,
                    int64_t threads, const StepAddresses *addresses) {
  const OpTimes times(module, machine);
  const Ranks ranks = ranksOf(module, threads);
  Block &block = step.getBody().front();
  const bool overlaps = overlapsCollectives(machine, ranks) ||
                        llvm::any_of(block, [](Operation &op) { return isa<TransferOp>(op); });
  StepPlayer player(block, times, laneShares(machine, ranks), overlaps, addresses);
  const int64_t microBatches = iterationsOf(module);
  return player.play(Segment::Prologue, microBatches) +
         player.play(Segment::MicroBatch, microBatches) + player.play(Segment::Epilogue, 1);
}

double simulatePackedStep(ModuleOp module, const Storage &storage, const planning::Machine &machine,
                          int64_t threads) {
  std::vector<int64_t> offsets;
  for (size_t index = 0; index < storage.roots().size(); ++index)
    offsets.push_back(rootOffset(storage.getStep(), storage, int64_t(index)));
  const StepAddresses addresses(storage, offsets);
  return simulateStep(module, storage.getStep(), machine, threads, &addresses);
}

} // namespace zero
