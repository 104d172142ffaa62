//===- Schedule.cpp - the phase `schedule` --------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Schedule/Passes.h"
#include "zero/Transforms/Schedule/ScheduleTransfers.h"

using namespace mlir;

void zero::addTransfers(OpPassManager &pm, const PhaseOptions &options,
                        const planning::Machine &machine, bool isTrial) {
  OverlapUpdatesOptions overlap;
  overlap.quiet = isTrial;
  pm.addPass(createOverlapUpdates(overlap));
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
  pm.addPass(createScheduleTransfers(machine, budgets));
}

void zero::addSchedule(OpPassManager &pm, const PhaseOptions &options,
                       const planning::Machine &machine) {
  addTransfers(pm, options, machine, /*isTrial=*/false);
  pm.addPass(createVerifyStateOrder());
}
