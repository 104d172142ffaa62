//===- Partition.cpp - the phase `partition` ------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Partition/Passes.h"
#include "zero/Transforms/Step/Passes.h"

using namespace mlir;

void zero::addPartition(OpPassManager &pm, const PhaseOptions &all) {
  const phase::PartitionOptions &options = all.partition;
  PartitionStepOptions partition;
  partition.reduceEach = options.gradReduce == GradReduce::Each;
  partition.reduceInF32 = options.reduceDtype == Precision::F32;
  partition.reshardRecomputed = options.reshardRecomputed;
  pm.addPass(createPartitionStep(partition));
  pm.addPass(createInterleaveMicroBatches());
  pm.addPass(createVerifyPartition());
  pm.addPass(createVerifyEvaluation());
}
