//===- ExpandShardedLosses.cpp - write out losses of sharded classes ------===//

#include "ScheduleLike.h"
#include "dialects/Onnx/OwnOperators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/AxisCollectives.h"
#include "zero/Ops/Concat.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_EXPANDSHARDEDLOSSES
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The labels counted from the first class of the rank's shard.
static Value ownLabels(NodeBuilder &builder, onnx::NodeOp loss) {
  Value labels = loss.getInputs()[1];
  const int64_t classes = loss.inputType(0).getDimSize(1);
  Value coordinate = builder.cast(loss.getInputs()[3], tensorType(labels).getElementType());
  Value begin = builder.mul(coordinate, builder.scalar(double(classes), coordinate.getType()));
  return builder.sub(labels, begin);
}

/// Replaces a CrossEntropySum of which each rank has the scores of some classes.
static void expand(onnx::NodeOp loss) {
  Operation *before = loss->getPrevNode();
  OpBuilder at(loss);
  NodeBuilder builder(at, loss.getLoc(), loss.getNode());
  const AxisRanks ranks{loss.getString("over", "").str(), loss.getInt("ranks", 1)};
  RankedTensorType perRow = loss.outputType(2);
  SmallVector<Type> states(3, perRow);
  auto part = builder.create(own::LossPart, states, {loss.getInputs()[0], ownLabels(builder, loss)},
                             builder.attr("begin", int64_t(0)));
  SmallVector<Value> rows;
  for (Value state : part.getOutputs())
    rows.push_back(builder.reshape(state, {1, 1, perRow.getNumElements()}));
  Value own = concatNode(builder, rows, 1);
  Value all = gatherShards(builder, own, {0}, ranks, HeldGradient::Whole);
  auto joined = builder.create(own::LossJoin, states, all);
  SmallVector<Value> inputs(joined.getOutputs());
  inputs.push_back(loss.getInputs()[1]);
  if (loss.hasInput(2))
    inputs.push_back(loss.getInputs()[2]);
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : loss.getAttrs())
    if (attr.getName() != "over" && attr.getName() != "ranks")
      attrs.push_back(attr);
  auto end = builder.create(own::LossEnd, loss->getResultTypes(), inputs, attrs);
  scheduleLike(loss, before);
  loss->replaceAllUsesWith(end.getResults());
  loss.erase();
}

namespace {
struct ExpandShardedLosses : zero::impl::ExpandShardedLossesBase<ExpandShardedLosses> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto node : llvm::make_early_inc_range(step->getBody().getOps<onnx::NodeOp>()))
      if (node.is(own::CrossEntropySum) && node.hasInput(3))
        expand(node);
  }
};
} // namespace
