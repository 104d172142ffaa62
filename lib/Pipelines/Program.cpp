//===- Program.cpp - functions on tensors as steps ------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addProgram(OpPassManager &pm) {
  pm.addPass(createInlineCalls());
  pm.addPass(createUnrollLoops());
  pm.addPass(createConvertStableHlo());
  pm.addPass(createRaiseLinalg());
  pm.addNestedPass<func::FuncOp>(createFoldBroadcasts());
  pm.addPass(createCSEPass());
  pm.addPass(createBindArguments());
}
