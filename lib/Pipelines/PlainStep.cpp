//===- PlainStep.cpp - a step as a function in plain ONNX -----------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/EmitOnnx/Passes.h"
#include "zero/Transforms/Recognise/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addAttentionProducts(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createExpandAttention());
}

void zero::addPlainStep(OpPassManager &pm) {
  pm.addPass(createReturnState());
  pm.addPass(createCSEPass());
  pm.addPass(createDecomposeNodes());
  // Lowerings of several nodes often need the same constants.
  pm.addPass(createCSEPass());
}
