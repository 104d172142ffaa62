//===- CutSequences.cpp - cut sequences over ranks ------------------------===//
//
// First, what is cut is decided by one walk from the lookups of tokens over users and, for operands
// that must have the same cut, producers. Then ops are rewritten in program order. Values that
// depend on parameters are cut in place. Others, such as labels and tables of positions, remain
// whole beside their cut, for ops that need neighbouring tokens.
//
//===----------------------------------------------------------------------===//

#include "MeshStep.h"
#include "ShardPlan.h"
#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/AxisCollectives.h"
#include "zero/Transforms/Shard/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CUTSEQUENCES
#include "include/zero/Transforms/Shard/Passes.h.inc"
} // namespace zero

using namespace zero;
using ops::Cut;
using ops::Sharding;

namespace {

class SequenceCutter {
public:
  SequenceCutter(ModuleOp module, func::FuncOp step, int64_t ranks)
      : step(step), ranks{kContextAxis.str(), ranks}, active(findActive(module, step)) {
    findData();
  }

  LogicalResult run();

private:
  void findData();
  LogicalResult cutTokens();
  LogicalResult visit(Value value);
  LogicalResult choose(onnx::NodeOp node, const Sharding &sharding);
  LogicalResult cut(Value value, const Cut &cut);
  bool isActive(Operation *op) const;
  std::optional<Sharding> shardingOf(OpOperand &use, const Cut &cut) const;
  InFlightDiagnostic refuse(Operation *op, Value value) const;
  LogicalResult check(Operation *op) const;
  void apply(onnx::NodeOp node, const Sharding &sharding);
  Value partOf(onnx::NodeOp user, Value value, const Cut &cut);

  func::FuncOp step;
  AxisRanks ranks;
  llvm::DenseSet<Value> active; ///< depend on parameters
  llvm::DenseSet<Value> data;   ///< depend on inputs
  llvm::DenseMap<Value, Cut> cuts;
  llvm::DenseMap<Operation *, Sharding> choices;
  SmallVector<Value> work;
  llvm::DenseSet<Value> replaced;     ///< by the rank's tokens
  llvm::DenseMap<Value, Value> parts; ///< of values that are whole, too
};

} // namespace

void SequenceCutter::findData() {
  for (BlockArgument argument : step.getArguments())
    data.insert(argument);
  for (Operation &op : step.getBody().front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return data.contains(operand); }))
      data.insert(op.result_begin(), op.result_end());
}

bool SequenceCutter::isActive(Operation *op) const {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         llvm::any_of(op->getResults(), [&](Value result) { return active.contains(result); });
}

InFlightDiagnostic SequenceCutter::refuse(Operation *op, Value value) const {
  auto node = dyn_cast<onnx::NodeOp>(op);
  if (const std::string why = node && node.is(own::Attention) ? whyNotAcross(node) : "";
      !why.empty())
    return node.emitError() << "expected plain or causal attention of a sequence to itself along "
                               "'context', got "
                            << node.describe() << ": " << why << "; leave out the axis 'context'";
  return op->emitError()
         << "expected operators that compute each token by itself, and attention in "
            "one kernel, along 'context', which cuts sequences over "
         << ranks.count << " ranks; got " << describe(op) << ", which combines tokens of "
         << value.getType() << "; leave out the axis 'context'";
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Whether no result has dimensions in front of the tokens of `operand`: rows are reduced, too.
static bool reducesRows(onnx::NodeOp node, unsigned operand, const Cut &cut) {
  for (int64_t dim = 0; dim < cut.dim; ++dim) {
    std::optional<Sharding> rows = ops::shardByOperand(node, operand, Cut{dim}, 1);
    const bool isOne = node.inputType(operand).getDimSize(dim) == 1;
    if (!isOne && rows && rows->kind == ops::FactorKind::Parallel)
      return false;
  }
  return true;
}

/// Queries, keys and values are cut together.
static Sharding shardAttention(onnx::NodeOp node) {
  const AttentionForm form(node);
  auto rowsOf = [](const HeadTensor &tensor) { return Cut{tensor.rowsFirst ? 1 : 2}; };
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  if (form.packed)
    sharding.operands[0] = Cut{1};
  else
    for (auto [index, tensor] : llvm::enumerate(std::array{form.query, form.key, form.value}))
      sharding.operands[index] = rowsOf(tensor);
  sharding.results = {rowsOf(form.result), Cut{2}};
  return sharding;
}

/// How the owner of `use` computes on tokens that are cut; nothing if it cannot.
std::optional<Sharding> SequenceCutter::shardingOf(OpOperand &use, const Cut &cut) const {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  if (!node)
    return std::nullopt;
  const unsigned operand = use.getOperandNumber();
  if (node.is(own::Attention) && whyNotAcross(node).empty())
    if (Sharding whole = shardAttention(node); whole.operands[operand] == cut)
      return whole;
  std::optional<Sharding> sharding = ops::shardByOperand(node, operand, cut, ranks.count);
  const bool isComputed =
      sharding && (sharding->kind == ops::FactorKind::Parallel || reducesRows(node, operand, cut));
  return isComputed ? sharding : std::nullopt;
}

LogicalResult SequenceCutter::cut(Value value, const Cut &cut) {
  auto [known, isNew] = cuts.try_emplace(value, cut);
  if (isNew)
    work.push_back(value);
  if (known->second == cut || !active.contains(value))
    return success();
  Operation *op = value.getDefiningOp();
  return refuse(op ? op : step.getOperation(), value);
}

LogicalResult SequenceCutter::choose(onnx::NodeOp node, const Sharding &sharding) {
  if (!choices.try_emplace(node, sharding).second)
    return success(); // `check` compares it with the cuts of operands.
  for (auto [input, of] : llvm::zip(node.getInputs(), sharding.operands))
    if (of && failed(cut(input, *of)))
      return failure();
  for (auto [result, of] : llvm::zip(node.getOutputs(), sharding.results))
    if (of && failed(cut(result, *of)))
      return failure();
  return success();
}

/// Where all operands of a producer have tokens, it computes them for the rank's alone. Other
/// producers compute the whole value, of which a part is taken.
LogicalResult SequenceCutter::visit(Value value) {
  const Cut cut = cuts.lookup(value);
  if (auto node = value.getDefiningOp<onnx::NodeOp>(); node && !choices.contains(node)) {
    std::optional<Sharding> sharding =
        ops::shardByResult(node, cast<OpResult>(value).getResultNumber(), cut, ranks.count);
    if (sharding && sharding->kind == ops::FactorKind::Parallel && failed(choose(node, *sharding)))
      return failure();
  }
  // Other users of constants and state may mean other dimensions.
  if (!active.contains(value) && !data.contains(value))
    return success();
  for (OpOperand &use : value.getUses())
    if (std::optional<Sharding> sharding = shardingOf(use, cut))
      if (failed(choose(cast<onnx::NodeOp>(use.getOwner()), *sharding)))
        return failure();
  return success();
}

/// Starts at the tokens that embeddings are looked up for.
LogicalResult SequenceCutter::cutTokens() {
  for (BlockArgument input : step.getArguments()) {
    if (!step.getArgAttr(input.getArgNumber(), kTokensAttr))
      continue;
    const int64_t tokens = cast<RankedTensorType>(input.getType()).getDimSize(1);
    if (tokens % (2 * ranks.count) != 0)
      return step.emitError() << "expected sequences of a multiple of " << 2 * ranks.count
                              << " tokens, because each of " << ranks.count
                              << " ranks along 'context' has two of as many equal chunks, got "
                              << tokens << " in input '"
                              << argumentBinding(step, input.getArgNumber()) << "'";
    if (failed(cut(input, Cut{1})))
      return failure();
  }
  if (work.empty())
    return step.emitError("expected an input of tokens, by which the model looks up embeddings, "
                          "to cut sequences over the axis 'context', got none; leave out the axis");
  while (!work.empty())
    if (failed(visit(work.pop_back_val())))
      return failure();
  return success();
}

/// An active value that its producer computes for the rank's tokens alone is not whole. Ops that
/// cannot compute with it are found here, in program order, so that the first one is named.
LogicalResult SequenceCutter::check(Operation *op) const {
  const auto choice = choices.find(op);
  for (OpOperand &use : op->getOpOperands()) {
    Operation *producer = use.get().getDefiningOp();
    if (!producer || !isActive(producer) || !choices.contains(producer) ||
        !cuts.contains(use.get()))
      continue;
    const bool hasChoice = choice != choices.end();
    if (!hasChoice || choice->second.operands[use.getOperandNumber()] != cuts.lookup(use.get()))
      return refuse(op, use.get());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// What `user`, which is rewritten, reads instead of `value`.
Value SequenceCutter::partOf(onnx::NodeOp user, Value value, const Cut &cut) {
  if (replaced.contains(value))
    return value;
  const bool isShared = cuts.lookup(value) == cut;
  if (Value part = parts.lookup(value); part && isShared)
    return part;
  OpBuilder at(user);
  NodeBuilder builder(at, user.getLoc(), user.getNode());
  Value part = takeTokens(builder, value, cut, ranks);
  if (isShared)
    parts[value] = part;
  return part;
}

void SequenceCutter::apply(onnx::NodeOp node, const Sharding &sharding) {
  const bool isInPlace = isActive(node);
  OpBuilder at(node);
  onnx::NodeOp made = isInPlace ? node : cast<onnx::NodeOp>(at.clone(*node));
  for (auto [index, of] : llvm::enumerate(sharding.operands))
    if (of)
      made->setOperand(index, partOf(made, node.getInputs()[index], *of));
  for (auto [result, of] : llvm::zip(made.getOutputs(), sharding.results))
    if (of) {
      auto type = cast<RankedTensorType>(result.getType());
      result.setType(type.clone(*ops::shardShape(type, *of, ranks.count)));
    }
  ops::adjustExtents(made, ranks.count);
  if (made.is(own::Attention))
    made = attendAcross(made, ranks);
  for (auto [index, of] : llvm::enumerate(sharding.results)) {
    Value result = made.getResult(index);
    if (isInPlace && of)
      replaced.insert(result);
    else if (of)
      parts[node.getResult(index)] = result;
    else if (!isInPlace) // a sum of the rank's tokens
      node.getResult(index).replaceAllUsesWith(result);
  }
}

LogicalResult SequenceCutter::run() {
  if (failed(cutTokens()))
    return failure();
  SmallVector<onnx::NodeOp> nodes;
  for (Operation &op : step.getBody().front()) {
    if (failed(check(&op)))
      return failure();
    if (auto node = dyn_cast<onnx::NodeOp>(op); node && choices.contains(node))
      nodes.push_back(node);
  }
  for (onnx::NodeOp node : nodes)
    apply(node, choices.lookup(node));
  return success();
}

namespace {
struct CutSequences : zero::impl::CutSequencesBase<CutSequences> {
  using CutSequencesBase::CutSequencesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findDividedStep(module, mesh, kContextAxis, "cut its sequences");
    if (failed(step))
      return signalPassFailure();
    if (*step && failed(SequenceCutter(module, *step, Mesh(module).contextRanks()).run()))
      signalPassFailure();
  }
};
} // namespace
