//===- ComputeWholeBatch.cpp - compute the values of the whole batch ------===//

#include "BatchValues.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_COMPUTEWHOLEBATCH
#include "include/zero/Transforms/Recognise/Passes.h.inc"
} // namespace zero

using namespace zero;

static std::string describe(Operation *op) {
  auto node = dyn_cast_or_null<onnx::NodeOp>(op);
  return node ? node.describe() : "the loss";
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Says which values are computed of the whole batch, once for each.
static void remarkValues(const BatchFindings &findings, uint64_t microBatches) {
  llvm::DenseSet<Value> said;
  for (const auto &[op, operands] : findings.operands)
    for (const WholeOperand &operand : operands) {
      Value value = op->getOperand(operand.index);
      if (!said.insert(value).second)
        continue;
      std::string what = "loss: " + describe(value.getDefiningOp());
      if (operand.mean == WholeOperand::Kept)
        what += " is a sum over all ranks and micro-batches";
      else
        what += ", which " + describe(op) + " reads, is computed over all ranks and micro-batches";
      if (operand.mean == WholeOperand::Followed && microBatches > 1)
        what += ", in one more forward pass";
      remark::passed(op->getLoc(), remark::RemarkOpts::name("whole").category("loss")) << what;
    }
}

static void warn(const BatchFindings::Problem &problem) {
  emitWarning(problem.op->getLoc())
      << describe(problem.op) << " combines " << problem.text
      << ": the loss is the mean of what each rank and micro-batch computes of its own rows, as in "
         "DDP, not that of one large batch; --loss-mean=local accepts this";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// Computes each value of the whole batch once, behind the part's own.
class WholeValues {
public:
  Value of(Value own, WholeOperand::Mean mean, int64_t power);

private:
  Value average(NodeBuilder &nodes, Value own, WholeOperand::Mean mean);

  llvm::DenseMap<std::tuple<Value, int, int64_t>, Value> made;
};
} // namespace

/// Means are taken of f32.
Value WholeValues::average(NodeBuilder &nodes, Value own, WholeOperand::Mean mean) {
  own = nodes.cast(own, Float32Type::get(own.getContext()));
  OpBuilder &builder = nodes.getBuilder();
  Value micro = MicroMeanOp::create(builder, nodes.getLoc(), own);
  Value all = RankMeanOp::create(builder, nodes.getLoc(), micro.getType(), micro);
  if (mean == WholeOperand::Averaged)
    return all;
  return nodes.create(own::WholeBatch, all.getType(), {all, own}).getResult(0);
}

Value WholeValues::of(Value own, WholeOperand::Mean mean, int64_t power) {
  Value &value = made[{own, int(mean), power}];
  if (value)
    return value;
  OpBuilder builder(own.getContext());
  builder.setInsertionPointAfterValue(own);
  auto maker = own.getDefiningOp<onnx::NodeOp>();
  NodeBuilder nodes(builder, own.getLoc(), maker ? maker.getNode() : "whole_batch");
  Type element = getElementTypeOrSelf(own.getType());
  value = mean == WholeOperand::Kept ? own : average(nodes, own, mean);
  if (power != 0) {
    auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(value.getType()));
    Value share = RankShareOp::create(builder, own.getLoc(), scalar);
    for (int64_t times = 0; times < std::abs(power); ++times)
      value = power > 0 ? nodes.div(value, share) : nodes.mul(value, share);
  }
  if (isa<IntegerType>(element))
    value = nodes.unary(op::Round, value);
  return value = nodes.cast(value, element);
}

/// Whether the loss stays as it is: gradients that the graph brings are those of its own loss, and
/// zero-split-batch has divided a program of the whole batch.
static bool isFixed(ModuleOp module, func::FuncOp step) {
  for (unsigned index = 0; index < step.getNumArguments(); ++index)
    if (step.getArgAttr(index, kSplitAttr))
      return true;
  return module->hasAttr(kOwnGradientsAttr) ||
         (module->hasAttr(kWholeStepAttr) && !hasTrainingNodes(step));
}

namespace {
struct ComputeWholeBatch : zero::impl::ComputeWholeBatchBase<ComputeWholeBatch> {
  using ComputeWholeBatchBase::ComputeWholeBatchBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (ranks * microBatches == 1 || isFixed(getOperation(), *step))
      return;
    BatchFindings findings = findBatchValues(*step, int64_t(microBatches));
    remarkValues(findings, microBatches);
    llvm::for_each(findings.problems, warn);
    WholeValues values;
    for (const auto &[op, operands] : findings.operands)
      for (const WholeOperand &operand : operands)
        op->setOperand(operand.index,
                       values.of(op->getOperand(operand.index), operand.mean, operand.power));
  }
};
} // namespace
