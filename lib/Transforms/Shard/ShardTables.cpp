//===- ShardTables.cpp - tables that can be cut by rows -------------------===//
//
// Tables of embeddings, of which a Gather takes rows, and tables of classes, whose products only a
// cross-entropy reads.
//
//===----------------------------------------------------------------------===//

#include "ShardPlan.h"

#include "zero/Ops/Tables.h"

using namespace mlir;

namespace zero {

using ops::Cut;
using ops::Sharding;

/// The cross-entropy that alone reads the product of `use`, whose columns are its classes, through
/// views; null otherwise.
static onnx::NodeOp lossOfClasses(OpOperand &use) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  if (!node || !ops::isProduct(node) || use.getOperandNumber() != 1)
    return {};
  onnx::NodeOp loss = ops::lossOfScores(node);
  if (!loss)
    return {};
  const int64_t classes = node.outputType(0).getShape().back();
  for (onnx::NodeOp next = loss; next != node;
       next = next.getInputs()[0].getDefiningOp<onnx::NodeOp>())
    if (next.inputType(0).getShape().back() != classes)
      return {};
  return loss;
}

/// Why `parameter` is not a table of classes or embeddings whose rows can be cut.
std::string ShardPlan::whyNoTable(ParameterOp parameter) const {
  bool isTable = false;
  for (Value read : reads.lookup(parameter.getSymNameAttr()))
    for (OpOperand &use : read.getUses()) {
      if (ops::readsTable(use)) {
        isTable = true;
        continue;
      }
      auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
      std::optional<Sharding> sharding =
          node && lossOfClasses(use) ? shardedBy(node, 1, Cut{0}, 1) : std::nullopt;
      if (!sharding || isPartial(*sharding))
        return describe(use.getOwner()) + " reads its rows";
      isTable = true;
    }
  if (!isTable)
    return "nothing reads it";
  const int64_t rows = parameter.getTensorType().getDimSize(0);
  return rows % ways == 0
             ? ""
             : std::to_string(ways) + " ranks do not divide its " + std::to_string(rows) + " rows";
}

/// A table of few rows, such as that of positions, is cheaper to hold than the sum of its rows.
static bool isSmall(RankedTensorType table, int64_t ways) {
  constexpr int64_t kLeastRows = 64; // of a rank
  return table.getDimSize(0) < kLeastRows * ways;
}

void ShardPlan::tryTable(ParameterOp parameter) {
  const bool hasTable = llvm::any_of(reads.lookup(parameter.getSymNameAttr()), [](Value read) {
    return llvm::any_of(read.getUses(),
                        [](OpOperand &use) { return ops::readsTable(use) || lossOfClasses(use); });
  });
  if (!hasTable || parameter.getTensorType().getRank() != 2 ||
      chosen.contains(parameter.getSymNameAttr()))
    return;
  if (isSmall(parameter.getTensorType(), ways))
    return;
  if (std::string why = whyNoTable(parameter); !why.empty())
    refused.push_back(("table '" + parameter.getSymName() + "' stays whole: " + why).str());
  else
    chosen[parameter.getSymNameAttr()] = Cut{0};
}

} // namespace zero
