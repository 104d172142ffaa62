//===- Import.cpp - the phase `import` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addImport(OpPassManager &pm, const StepOptions &options) {
  SelectParametersOptions select;
  select.forwardOnly = options.forwardOnly;
  select.trainable = options.trainable;
  select.freeze.assign(options.freeze.begin(), options.freeze.end());
  pm.addPass(createWidenFloats());
  pm.addPass(createVerifyImport());
  pm.addPass(createSelectParameters(select));
  // A model that only runs forward stays as it is.
  if (!options.forwardOnly)
    pm.addPass(createUpdateBuffers());
}
