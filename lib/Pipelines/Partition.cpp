//===- Partition.cpp - the phase `partition` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPartition(OpPassManager &pm, const StepOptions &options) {
  PartitionStepOptions partition;
  partition.reduceEach = options.gradReduce == "each";
  partition.reduceInF32 = options.reduceDtype == "fp32";
  pm.addPass(createPartitionStep(partition));
  pm.addPass(createVerifyPartition());
}
