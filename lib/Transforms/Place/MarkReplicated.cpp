//===- MarkReplicated.cpp - activations that ranks hold alike -------------===//

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Place/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_MARKREPLICATED
#include "include/zero/Transforms/Place/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether all ranks along the axis tensor have the results of `op` after it, or different ones.
/// Nothing where its operands decide.
static std::optional<bool> joinsRanks(const Mesh &mesh, Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective || !mesh.isAlong(collective.getCollectiveGroup(), kTensorAxis))
    return std::nullopt;
  return collective.getCollectiveKind() != CollectiveKind::ReduceScatter;
}

/// The values of `step` that differ between the ranks along the axis tensor: they depend on shards
/// or on the coordinate of the rank.
static llvm::DenseSet<Value> findDifferent(ModuleOp module, func::FuncOp step) {
  const Mesh mesh(module);
  SymbolTable symbols(module);
  llvm::DenseSet<Value> different;
  for (BlockArgument argument : step.getArguments())
    if (argumentBinding(step, argument.getArgNumber()).starts_with(kCoordinatePrefix))
      different.insert(argument);
  for (Operation &op : step.getBody().front()) {
    auto read = dyn_cast<ReadOp>(op);
    const bool differs =
        (read && shardOf(symbols.lookup(read.getSymbol()))) ||
        llvm::any_of(op.getOperands(), [&](Value operand) { return different.contains(operand); });
    if (joinsRanks(mesh, &op).value_or(!differs))
      continue;
    different.insert(op.result_begin(), op.result_end());
  }
  return different;
}

namespace {
struct MarkReplicated : zero::impl::MarkReplicatedBase<MarkReplicated> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (!getOperation()->hasAttr(kMeshAttr))
      return;
    const llvm::DenseSet<Value> different = findDifferent(getOperation(), *step);
    const llvm::DenseSet<Operation *> forward = findForwardOps(*step);
    for (auto op : step->getBody().getOps<ActivationOpInterface>()) {
      SmallVector<int64_t> alike;
      for (OpResult result : op->getResults())
        if (!different.contains(result))
          alike.push_back(result.getResultNumber());
      if (forward.contains(op) && !alike.empty())
        op->setAttr(kReplicatedAttr, DenseI64ArrayAttr::get(&getContext(), alike));
    }
  }
};
} // namespace
