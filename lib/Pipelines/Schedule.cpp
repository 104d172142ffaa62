//===- Schedule.cpp - the phase `schedule` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"
#include "zero/Transforms/ScheduleTransfers.h"

using namespace mlir;

void zero::addTransfers(OpPassManager &pm, const StepOptions &options, bool isTrial) {
  OverlapUpdatesOptions overlap;
  overlap.quiet = isTrial;
  pm.addPass(createOverlapUpdates(overlap));
  if (options.offloadActivations != "device") {
    OffloadActivationsOptions activations;
    activations.tier = fixedTier(options.offloadActivations);
    activations.quiet = isTrial;
    pm.addPass(createOffloadActivations(activations));
  }
  pm.addPass(createInsertTransfers());
  planning::Machine machine;
  (void)options.loadMachine(machine); // whoever gave a bad file has been told
  TierBudgets budgets;
  budgets.device = int64_t(options.memoryBudget.getValue().bytes);
  budgets.host = int64_t(options.hostBudget.getValue().bytes);
  pm.addPass(createScheduleTransfers(machine, budgets));
}

void zero::addSchedule(OpPassManager &pm, const StepOptions &options) {
  addTransfers(pm, options, /*isTrial=*/false);
  pm.addPass(createVerifyStateOrder());
}
