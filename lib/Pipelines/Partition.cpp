//===- Partition.cpp - the phase `partition` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPartition(OpPassManager &pm, const phase::PartitionOptions &options) {
  PartitionStepOptions partition;
  partition.reduceEach = options.gradReduce == GradReduce::Each;
  partition.reduceInF32 = options.reduceDtype == Precision::F32;
  pm.addPass(createPartitionStep(partition));
  pm.addPass(createVerifyPartition());
}
