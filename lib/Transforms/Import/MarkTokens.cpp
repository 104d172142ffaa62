//===- MarkTokens.cpp - mark inputs that are tokens -----------------------===//

#include "dialects/Onnx/Operators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_MARKTOKENS
#include "include/zero/Transforms/Import/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether results of `node` hold numbers that its operands hold, too.
static bool handsOn(onnx::NodeOp node) {
  return node.isAnyOf({op::Cast, op::CastLike, op::Identity, op::Reshape, op::Flatten, op::Squeeze,
                       op::Unsqueeze, op::Slice, op::Split, op::Concat, op::Where, op::Transpose,
                       op::Expand, op::Pad});
}

/// Whether `use` gathers rows of a float table that is state of the model.
static bool isLookup(OpOperand &use, onnx::NodeOp node) {
  Value table = node.getInputs().front();
  return node.is(op::Gather) && use.getOperandNumber() == 1 && table.getDefiningOp<ReadOp>() &&
         isa<FloatType>(getElementTypeOrSelf(table)) &&
         cast<RankedTensorType>(table.getType()).getRank() == 2;
}

/// Whether numbers of `input` choose rows of an embedding.
static bool feedsEmbedding(BlockArgument input) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type || type.getRank() != 2 || !type.getElementType().isIntOrIndex() ||
      type.getElementType().isInteger(1))
    return false;
  llvm::DenseSet<Value> seen = {input};
  SmallVector<Value> open = {input};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
      if (!node || !node.getDomain().empty())
        continue;
      if (isLookup(use, node))
        return true;
      if (handsOn(node))
        for (Value result : node.getOutputs())
          if (seen.insert(result).second)
            open.push_back(result);
    }
  return false;
}

namespace {
struct MarkTokens : zero::impl::MarkTokensBase<MarkTokens> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (BlockArgument input : step->getArguments())
      if (feedsEmbedding(input))
        step->setArgAttr(input.getArgNumber(), kTokensAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
