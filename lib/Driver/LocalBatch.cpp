//===- LocalBatch.cpp - check the batch of a configuration ----------------===//

#include "LocalBatch.h"

#include "zero/Analysis/StepFunction.h"

using namespace mlir;

namespace zero {

LogicalResult checkLocalBatch(ModuleOp module, const CompilerOptions &options) {
  if (options.localBatch == 0)
    return success();
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  int64_t expected = options.localBatch, most = 0;
  bool isThere = false;
  std::string inputs;
  for (auto [index, type] : llvm::enumerate(step->getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0)
      continue;
    int64_t rows = tensor.getDimSize(0);
    most = std::max(most, rows);
    isThere |= rows == expected;
    inputs += (inputs.empty() ? "'" : ", '") + argumentBinding(*step, index).str() + "' has " +
              std::to_string(rows);
  }
  if (isThere && (expected > 1 || most == 1))
    return success();
  return module.emitError() << options.localBatchKey << ": expected a batch of " << expected
                            << " on each rank, got a model with a different batch: input " << inputs
                            << (inputs.empty() ? "none" : "") << "; export it or bind it with "
                            << "--shape for this batch";
}

} // namespace zero
