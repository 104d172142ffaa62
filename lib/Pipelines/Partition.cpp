//===- Partition.cpp - the phase `partition` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPartition(OpPassManager &pm, const StepOptions &options) {
  pm.addPass(createPartitionStep());
  pm.addPass(createVerifyPartition());
}
