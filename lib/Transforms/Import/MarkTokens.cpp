//===- MarkTokens.cpp - mark inputs that are tokens -----------------------===//

#include "dialects/Zero/EmittedAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_MARKTOKENS
#include "include/zero/Transforms/Import/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether results of the node of `use` hold numbers that the operand holds, too.
static bool handsOn(OpOperand &use, onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  if (!def)
    return false;
  const bool moves = def->kind == ops::Kind::View || def->narrow == ops::Narrow::Move ||
                     def->function == ops::Function::Convert;
  return moves && (use.getOperandNumber() == 0 || def->linear == ops::Linear::Together);
}

/// Whether `use` gathers rows of a float table that is state of the model.
static bool isLookup(OpOperand &use, onnx::NodeOp node) {
  Value table = node.getInputs().front();
  return ops::computes(node, ops::Function::Lookup) && use.getOperandNumber() == 1 &&
         table.getDefiningOp<ReadOp>() && isa<FloatType>(getElementTypeOrSelf(table)) &&
         cast<RankedTensorType>(table.getType()).getRank() == 2;
}

/// The rows of the smallest embedding of which numbers of `input` choose rows, if there is one.
static std::optional<int64_t> vocabularyOf(BlockArgument input) {
  std::optional<int64_t> rows;
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type || type.getRank() != 2 || !type.getElementType().isIntOrIndex() ||
      type.getElementType().isInteger(1))
    return rows;
  llvm::DenseSet<Value> seen = {input};
  SmallVector<Value> open = {input};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
      if (!node || !node.getDomain().empty())
        continue;
      if (isLookup(use, node)) {
        auto table = cast<RankedTensorType>(node.getInputs().front().getType());
        rows = std::min(rows.value_or(table.getDimSize(0)), table.getDimSize(0));
      } else if (handsOn(use, node))
        for (Value result : node.getOutputs())
          if (seen.insert(result).second)
            open.push_back(result);
    }
  return rows;
}

namespace {
struct MarkTokens : zero::impl::MarkTokensBase<MarkTokens> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (BlockArgument input : step->getArguments())
      if (std::optional<int64_t> rows = vocabularyOf(input)) {
        step->setArgAttr(input.getArgNumber(), kTokensAttr, UnitAttr::get(&getContext()));
        step->setArgAttr(input.getArgNumber(), kVocabularyAttr,
                         IntegerAttr::get(IntegerType::get(&getContext(), 64), *rows));
      }
  }
};
} // namespace
