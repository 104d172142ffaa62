//===- Schedule.cpp - the phase `schedule` --------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Schedule/Passes.h"
#include "zero/Transforms/Schedule/ScheduleTransfers.h"

using namespace mlir;
using namespace zero;

/// By default a bucket may be prefetched where the lanes of the machine overlap.
static int64_t prefetchBytes(const PhaseOptions &options, const planning::Machine &machine) {
  if (options.plan.prefetchBytes.hasValue())
    return int64_t(options.plan.prefetchBytes.getValue().bytes);
  return machine.overlaps ? int64_t(options.place.bucketBytes.getValue().bytes) : 0;
}

void zero::addTransfers(OpPassManager &pm, const PhaseOptions &options,
                        const planning::Machine &machine, bool isTrial) {
  OverlapUpdatesOptions overlap;
  overlap.quiet = isTrial;
  pm.addPass(createOverlapUpdates(overlap));
  if (options.shard.any())
    pm.addPass(createHoistSums());
  if (options.place.partitionActivations) {
    PartitionActivationsOptions divide;
    divide.quiet = isTrial;
    pm.addPass(createPartitionActivations(divide));
  }
  if (!options.offload.activations.is(Tier::Device)) {
    OffloadActivationsOptions activations;
    activations.tier = options.offload.activations.fixed(Tier::Device);
    activations.quiet = isTrial;
    pm.addPass(createOffloadActivations(activations));
  }
  pm.addPass(createInsertTransfers());
  TierBudgets budgets;
  budgets.device = int64_t(options.plan.memoryBudget.getValue().bytes);
  budgets.host = int64_t(options.plan.hostBudget.getValue().bytes);
  budgets.both = int64_t(options.sharedBudget(machine));
  budgets.prefetch = prefetchBytes(options, machine);
  pm.addPass(createShareFetches(budgets));
  if (options.offload.delayUpdates) {
    DelayUpdatesOptions delay;
    delay.quiet = isTrial;
    pm.addPass(createDelayUpdates(delay));
  }
  pm.addPass(createScheduleTransfers(machine, budgets));
}

void zero::addSchedule(OpPassManager &pm, const PhaseOptions &options,
                       const planning::Machine &machine) {
  addTransfers(pm, options, machine, /*isTrial=*/false);
  pm.addPass(createVerifyStateOrder());
}
