//===- Import.cpp - the phase `import` ------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Import/Passes.h"
#include "zero/Transforms/Lift/Passes.h"
#include "zero/Transforms/Program/Passes.h"

using namespace mlir;
using namespace zero;

/// Adapters get initial values of their own, whatever those of the other parameters are.
static void addAdapters(OpPassManager &pm, const phase::AdapterOptions &options) {
  PlanAdaptersOptions plan;
  plan.targets.assign(options.targets.begin(), options.targets.end());
  pm.addPass(createPlanAdapters(plan));
  AddAdaptersOptions add;
  add.size = options.rank;
  add.scale = options.scale();
  add.dropoutRatio = options.dropout;
  add.gaussian = options.init == AdapterInit::Gaussian;
  add.dora = options.dora;
  pm.addPass(createAddAdapters(add));
}

void zero::addImport(OpPassManager &pm, const PhaseOptions &all) {
  const phase::ImportOptions &options = all.import;
  SelectParametersOptions select;
  select.freezeAll = options.forwardOnly || all.freezesBase();
  select.trainable = options.trainable;
  select.freeze.assign(options.freeze.begin(), options.freeze.end());
  select.freezeAllBut.assign(options.freezeAllBut.begin(), options.freezeAllBut.end());
  select.verbose = options.verbose;
  // A step in upstream dialects becomes one of nodes.
  pm.addPass(createRaiseLinalg());
  if (!options.forwardOnly)
    pm.addPass(createWidenFloats());
  pm.addPass(createVerifyImport({options.verbose}));
  // A list of trained parameters means that the graph is intended.
  if (!options.forwardOnly && options.trainable.empty())
    pm.addPass(createVerifyExport({options.verbose}));
  pm.addPass(createSelectParameters(select));
  pm.addPass(createFoldEmpty());
  pm.addPass(createLiftUpdates());
  if (!options.init.empty())
    pm.addPass(createInitializeParameters({options.init}));
  if (!all.adapters.targets.empty())
    addAdapters(pm, all.adapters);
  pm.addPass(createMarkTokens());
  // A model that only runs forward stays as it is.
  if (!options.forwardOnly)
    pm.addPass(createUpdateBuffers());
}
