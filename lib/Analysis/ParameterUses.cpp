//===- ParameterUses.cpp - when the step reads each parameter -------------===//

#include "zero/Analysis/ParameterUses.h"

#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"

using namespace mlir;

namespace zero {

llvm::DenseSet<Operation *> findSources(ArrayRef<Operation *> last) {
  llvm::DenseSet<Operation *> sources(last.begin(), last.end());
  SmallVector<Operation *> work(last);
  while (!work.empty())
    for (Value operand : work.pop_back_val()->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && sources.insert(producer).second)
        work.push_back(producer);
  return sources;
}

llvm::DenseSet<Operation *> findForwardOps(func::FuncOp step) {
  SmallVector<Operation *> losses;
  Operation *terminator = step.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    if (resultBinding(step, index).ends_with("loss") && value.getDefiningOp())
      losses.push_back(value.getDefiningOp());
  return findSources(losses);
}

llvm::MapVector<StringAttr, ParameterUse> findParameterUses(func::FuncOp step) {
  llvm::DenseSet<Operation *> forward = findForwardOps(step);
  llvm::MapVector<StringAttr, ParameterUse> uses;
  for (Operation &op : step.getBody().front()) {
    // A reshape does not read the parameter, but its users do.
    if (isReshape(&op))
      continue;
    // The epilogue reads only the rank's slice of a parameter, but returns all of it.
    if (op.hasAttr(kDelayedAttr) ||
        (isIn(&op, Segment::Epilogue) && !op.hasTrait<OpTrait::IsTerminator>()))
      continue;
    for (Value operand : op.getOperands()) {
      auto read = throughReshapes(operand).getDefiningOp<ReadOp>();
      if (!read)
        continue;
      ParameterUse &use = uses[read.getSymbolAttr().getAttr()];
      auto &list = forward.contains(&op) ? use.forward : use.backward;
      if (list.empty() || list.back() != &op)
        list.push_back(&op);
    }
  }
  return uses;
}

} // namespace zero
