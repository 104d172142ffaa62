//===- ShardTensors.cpp - forward of ranks with shards --------------------===//

#include "ShardPlan.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/AxisCollectives.h"
#include "zero/Ops/CallAttrs.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Shard/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SHARDTENSORS
#include "include/zero/Transforms/Shard/Passes.h.inc"
} // namespace zero

using namespace zero;
using ops::Cut;
using ops::Sharding;

namespace {

/// What becomes of a node that reads shards.
struct Choice {
  enum class Kind { Shards, Table, Classes, Whole };
  Kind kind;
  Sharding sharding = {};
  std::optional<Cut> tokens = {}; ///< of the sum over ranks: with sequence parallelism
};

class Sharder {
public:
  Sharder(ModuleOp module, func::FuncOp step, bool cutsTokens)
      : module(module), step(step), ranks{kTensorAxis.str(), Mesh(module).tensorRanks()},
        cutsTokens(cutsTokens), active(findActive(module, step)) {}

  LogicalResult run();

private:
  void decide();
  std::optional<Choice> choose(onnx::NodeOp node) const;
  std::optional<Sharding> shardingOf(onnx::NodeOp node) const;
  bool cutsWholeMatrix(onnx::NodeOp node, const Sharding &sharding) const;
  LogicalResult shardParameters();
  void apply(Operation *op, const Choice &choice);
  void computeOnShards(onnx::NodeOp node, const Choice &choice);
  void takeTable(onnx::NodeOp gather, const std::optional<Cut> &tokens);
  void takeClasses(onnx::NodeOp loss);
  Value withCut(NodeBuilder &builder, Value value, const std::optional<Cut> &wanted);
  Value whole(NodeBuilder &builder, Value value, HeldGradient gradient);
  void readWhole(Operation *op);
  std::optional<Cut> cutOf(Value value) const;
  std::optional<Cut> tokensOf(Value sum) const;
  Value sumOf(NodeBuilder &builder, Value summand, const std::optional<Cut> &tokens);

  ModuleOp module;
  func::FuncOp step;
  AxisRanks ranks;
  bool cutsTokens;
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, Cut> cuts;
  llvm::MapVector<Operation *, Choice> choices;
  llvm::DenseMap<Value, Value> entered, wholes, summed; ///< what was made of a value already
};

} // namespace

static Cut cutFrom(ShardAttr shard) {
  return {shard.getDim(), SmallVector<int64_t>(shard.getParts())};
}

std::optional<Cut> Sharder::cutOf(Value value) const {
  auto it = cuts.find(value);
  return it == cuts.end() ? std::nullopt : std::optional(it->second);
}

/// Gives parameters and their reads the types of shards.
LogicalResult Sharder::shardParameters() {
  llvm::DenseMap<StringAttr, RankedTensorType> types;
  for (auto parameter : module.getOps<ParameterOp>()) {
    ShardAttr shard = shardOf(parameter);
    if (!shard)
      continue;
    auto shape = ops::shardShape(parameter.getTensorType(), cutFrom(shard), ranks.count);
    if (!shape)
      return parameter.emitError()
             << "parameter '" << parameter.getSymName()
             << "': expected a number of ranks that divides dimension " << shard.getDim() << " of "
             << parameter.getTensorType() << ", got " << ranks.count;
    parameter.setType(parameter.getTensorType().clone(*shape));
    types[parameter.getSymNameAttr()] = parameter.getTensorType();
  }
  for (auto read : step.getBody().getOps<ReadOp>())
    if (RankedTensorType type = types.lookup(read.getSymbolAttr().getAttr()))
      read.getResult().setType(type);
  return success();
}

/// `value`, of which ranks have shards, as a whole tensor.
Value Sharder::whole(NodeBuilder &builder, Value value, HeldGradient gradient) {
  Value &gathered = gradient == HeldGradient::Whole ? wholes[value] : summed[value];
  if (!gathered)
    gathered = gatherShards(builder, value, cuts.lookup(value), ranks, gradient);
  return gathered;
}

/// The shard that a node wants of `value`, or all of it.
Value Sharder::withCut(NodeBuilder &builder, Value value, const std::optional<Cut> &wanted) {
  std::optional<Cut> has = cutOf(value);
  if (has == wanted && wanted)
    return value;
  if (has && !wanted)
    return whole(builder, value, HeldGradient::Summands);
  if (has)
    value = whole(builder, value, HeldGradient::Whole);
  if (wanted)
    return takeShard(builder, value, *wanted, ranks);
  if (!active.contains(value))
    return value;
  Value &copy = entered[value];
  if (!copy)
    copy = enterShards(builder, value, ranks);
  return copy;
}

/// Lets `op`, which does not compute on shards, read whole tensors.
void Sharder::readWhole(Operation *op) {
  OpBuilder at(op);
  NodeBuilder builder(at, op->getLoc(), "shards");
  for (OpOperand &operand : op->getOpOperands())
    if (cuts.contains(operand.get()))
      operand.set(whole(builder, operand.get(), HeldGradient::Whole));
}

//===----------------------------------------------------------------------===//
// Choices, on the types of whole tensors
//===----------------------------------------------------------------------===//

/// Whether `node` would need a shard of a matrix that the plan leaves whole on each rank.
bool Sharder::cutsWholeMatrix(onnx::NodeOp node, const Sharding &sharding) const {
  return llvm::any_of(llvm::zip(node.getInputs(), sharding.operands), [&](const auto &pair) {
    auto [input, cut] = pair;
    return cut && !cutOf(input) && isa_and_nonnull<ReadOp>(input.getDefiningOp()) &&
           cast<RankedTensorType>(input.getType()).getRank() > 1;
  });
}

/// How `node` computes on the shards that it gets. Cuts of parameters come first: to gather these
/// would cost the most.
std::optional<Sharding> Sharder::shardingOf(onnx::NodeOp node) const {
  for (const bool ofParameter : {true, false})
    for (auto [index, input] : llvm::enumerate(node.getInputs())) {
      std::optional<Cut> cut = cutOf(input);
      if (!cut || bool(input.getDefiningOp<ReadOp>()) != ofParameter)
        continue;
      auto sharding = ops::shardByOperand(node, index, *cut, ranks.count);
      if (sharding && !cutsWholeMatrix(node, *sharding))
        return sharding;
    }
  return std::nullopt;
}

std::optional<Choice> Sharder::choose(onnx::NodeOp node) const {
  if (llvm::none_of(node.getInputs(), [&](Value input) { return cuts.contains(input); }))
    return std::nullopt;
  const std::optional<Cut> first = cutOf(node.getInputs()[0]);
  if (first == Cut{0} && readsTable(node->getOpOperand(0)))
    return Choice{Choice::Kind::Table};
  const bool isPlain = !node.getAttrs().contains(ops::kLabelSmoothing) && !node.hasInput(3);
  if (first == Cut{1} && node.is(own::CrossEntropySum) && node.inputType(0).getRank() == 2 &&
      isPlain)
    return Choice{Choice::Kind::Classes};
  if (std::optional<Sharding> sharding = shardingOf(node))
    return Choice{Choice::Kind::Shards, *sharding};
  return Choice{Choice::Kind::Whole};
}

/// How the tokens of a sum over ranks are cut: along the first dimension but the last that the
/// ranks divide. Ops on rows do not care which tokens they have.
std::optional<Cut> Sharder::tokensOf(Value sum) const {
  auto type = cast<RankedTensorType>(sum.getType());
  for (int64_t dim = 0; cutsTokens && dim + 1 < type.getRank(); ++dim)
    if (ops::shardShape(type, Cut{dim}, ranks.count))
      return Cut{dim};
  return std::nullopt;
}

/// The sum over ranks of `summand`, or the rank's tokens of it.
Value Sharder::sumOf(NodeBuilder &builder, Value summand, const std::optional<Cut> &tokens) {
  Value sum =
      tokens ? scatterSum(builder, summand, *tokens, ranks) : sumOverAxis(builder, summand, ranks);
  active.insert(sum);
  if (tokens)
    cuts[sum] = *tokens;
  return sum;
}

void Sharder::decide() {
  SymbolTable symbols(module);
  for (Operation &op : step.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (ShardAttr shard = shardOf(symbols.lookup(read.getSymbol())))
        cuts[read.getResult()] = cutFrom(shard);
      continue;
    }
    auto node = dyn_cast<onnx::NodeOp>(op);
    std::optional<Choice> choice = node ? choose(node) : Choice{Choice::Kind::Whole};
    if (!choice)
      continue;
    if (choice->kind == Choice::Kind::Table || choice->sharding.isPartial) {
      choice->tokens = tokensOf(op.getResult(0));
      if (choice->tokens)
        cuts[op.getResult(0)] = *choice->tokens;
    }
    choices[&op] = *choice;
    if (!choice->sharding.isPartial)
      for (auto [result, cut] : llvm::zip(op.getResults(), choice->sharding.results))
        if (cut)
          cuts[result] = *cut;
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Takes away the row that `product` adds to each row of its result, and returns it.
static Value takeRow(onnx::NodeOp product) {
  if (!product.hasInput(2))
    return {};
  Value row = product.getInputs()[2];
  product->eraseOperand(2);
  return row;
}

void Sharder::computeOnShards(onnx::NodeOp node, const Choice &choice) {
  const Sharding &sharding = choice.sharding;
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  Value row = sharding.isPartial ? takeRow(node) : Value();
  for (auto [index, input] : llvm::enumerate(SmallVector<Value>(node.getInputs())))
    if (isa<RankedTensorType>(input.getType()))
      node.setOperand(index, withCut(builder, input, sharding.operands[index]));
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    const std::optional<Cut> &cut = sharding.results[index];
    if (!cut || sharding.isPartial)
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(type.clone(*ops::shardShape(type, *cut, ranks.count)));
  }
  ops::adjustAttributes(node, ranks.count);
  if (!sharding.isPartial)
    return;
  at.setInsertionPointAfter(node);
  Value summand = node.getResult(0);
  llvm::SmallPtrSet<Operation *, 4> readers(summand.user_begin(), summand.user_end());
  Value result = sumOf(builder, summand, choice.tokens);
  if (row) {
    if (cuts.contains(row))
      row = whole(builder, row, HeldGradient::Whole);
    else if (choice.tokens)
      row = enterShards(builder, row, ranks);
    result = builder.add(result, row);
    active.insert(result);
    if (choice.tokens)
      cuts[result] = *choice.tokens;
  }
  summand.replaceUsesWithIf(result,
                            [&](OpOperand &use) { return readers.contains(use.getOwner()); });
}

/// Each rank gathers the rows that it has of a table.
void Sharder::takeTable(onnx::NodeOp gather, const std::optional<Cut> &tokens) {
  OpBuilder at(gather);
  NodeBuilder builder(at, gather.getLoc(), gather.getNode());
  Value table = gather.getInputs()[0];
  SmallVector<NamedAttribute> attrs{
      builder.attr("extent", tensorType(table).getDimSize(0) * ranks.count)};
  for (StringRef name : {StringRef(ops::kPaddingIndex), StringRef(ops::kLeastIndex)})
    if (gather.getAttrs().contains(name))
      attrs.push_back(builder.attr(name, gather.getInt(name, 0)));
  Value rows = builder
                   .create(own::GatherShard, gather.getResult(0).getType(),
                           {table, gather.getInputs()[1], coordinateOf(builder, ranks)}, attrs)
                   .getResult(0);
  gather.getResult(0).replaceAllUsesWith(sumOf(builder, rows, tokens));
  gather.erase();
}

/// Each rank has the scores of some classes.
void Sharder::takeClasses(onnx::NodeOp loss) {
  OpBuilder at(loss);
  NodeBuilder builder(at, loss.getLoc(), loss.getNode());
  SmallVector<Value> inputs(loss.getInputs().take_front(3));
  if (inputs.size() < 3)
    inputs.push_back(builder.none());
  inputs.push_back(coordinateOf(builder, ranks));
  NamedAttrList attrs(loss.getAttrs());
  attrs.append(builder.attr("classes", tensorType(inputs[0]).getDimSize(1) * ranks.count));
  attrs.append(builder.attr("over", ranks.name));
  attrs.append(builder.attr("ranks", ranks.count));
  auto sharded =
      builder.create(own::CrossEntropySum, loss->getResultTypes(), inputs, attrs.getAttrs());
  for (Value result : sharded.getOutputs())
    active.insert(result);
  loss->replaceAllUsesWith(sharded.getResults());
  loss.erase();
}

void Sharder::apply(Operation *op, const Choice &choice) {
  switch (choice.kind) {
  case Choice::Kind::Shards:
    return computeOnShards(cast<onnx::NodeOp>(op), choice);
  case Choice::Kind::Table:
    return takeTable(cast<onnx::NodeOp>(op), choice.tokens);
  case Choice::Kind::Classes:
    return takeClasses(cast<onnx::NodeOp>(op));
  case Choice::Kind::Whole:
    return readWhole(op);
  }
}

LogicalResult Sharder::run() {
  decide();
  if (failed(shardParameters()))
    return failure();
  for (const auto &[op, choice] : choices)
    apply(op, choice);
  return success();
}

namespace {
struct ShardTensors : zero::impl::ShardTensorsBase<ShardTensors> {
  using ShardTensorsBase::ShardTensorsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    if (module->hasAttr(kMeshAttr) && failed(Sharder(module, *step, tokens).run()))
      signalPassFailure();
  }
};
} // namespace
