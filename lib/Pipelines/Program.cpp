//===- Program.cpp - functions on tensors as steps ------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addProgram(OpPassManager &pm, const ProgramOptions &options) {
  pm.addPass(createInlineCalls());
  pm.addPass(createUnrollLoops());
  pm.addPass(createConvertStableHlo());
  pm.addPass(createRaiseLinalg());
  pm.addNestedPass<func::FuncOp>(createFoldBroadcasts());
  pm.addNestedPass<func::FuncOp>(createDropUnitDims());
  pm.addPass(createCSEPass());
  BindArgumentsOptions bind;
  bind.roles = options.roles;
  bind.loss = options.loss;
  bind.carry.assign(options.carry.begin(), options.carry.end());
  bind.zeros.assign(options.zeros.begin(), options.zeros.end());
  bind.tie.assign(options.tie.begin(), options.tie.end());
  bind.forwardOnly = options.forwardOnly;
  bind.verbose = options.verbose;
  bind.mesh = options.mesh;
  pm.addPass(createBindArguments(bind));
  pm.addPass(createFoldGuards());
  // A program that only runs forward stays as it is.
  if (!options.forwardOnly)
    pm.addPass(createWidenState());
  pm.addPass(createSplitBatch({options.parts}));
}
