//===- ShardTensors.cpp - forward of ranks with shards --------------------===//

#include "ShardChoices.h"
#include "ShardPlan.h"
#include "dialects/Onnx/OwnOperators.h"
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

class Sharder {
public:
  Sharder(ModuleOp module, func::FuncOp step, bool cutsTokens)
      : module(module), step(step), ranks{kTensorAxis.str(), Mesh(module).tensorRanks()},
        active(findActive(module, step)),
        choices(chooseShards(module, step, ranks.count, cutsTokens)) {}

  LogicalResult run();

private:
  LogicalResult shardParameters();
  void apply(Operation *op, const ShardChoice &choice);
  void computeOnShards(onnx::NodeOp node, const ShardChoice &choice);
  void takeTable(onnx::NodeOp gather, const std::optional<Cut> &tokens);
  void takeClasses(onnx::NodeOp loss);
  Value withCut(NodeBuilder &builder, Value value, const std::optional<Cut> &wanted);
  Value whole(NodeBuilder &builder, Value value, HeldGradient gradient);
  void readWhole(Operation *op);
  Value sumOf(NodeBuilder &builder, Value summand, const std::optional<Cut> &tokens);

  ModuleOp module;
  func::FuncOp step;
  AxisRanks ranks;
  llvm::DenseSet<Value> active;
  ShardChoices choices;
  llvm::DenseMap<Value, Value> entered, wholes, summed; ///< what was made of a value already
};

} // namespace

/// Gives parameters and their reads the types of shards.
LogicalResult Sharder::shardParameters() {
  llvm::DenseMap<StringAttr, RankedTensorType> types;
  for (auto parameter : module.getOps<ParameterOp>()) {
    ShardAttr shard = shardOf(parameter);
    if (!shard)
      continue;
    if (parameter.getBlocks())
      return parameter.emitError()
             << "parameter '" << parameter.getSymName()
             << "': expected elements that are stored as they are, which the tensor axis can "
                "divide, got codes in blocks; leave out --frozen-precision=nf4, int8 or fp8, or "
                "the tensor axis";
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
    gathered = gatherShards(builder, value, choices.cuts.lookup(value), ranks, gradient);
  return gathered;
}

/// The shard that a node wants of `value`, or all of it.
Value Sharder::withCut(NodeBuilder &builder, Value value, const std::optional<Cut> &wanted) {
  const std::optional<Cut> has = choices.cutOf(value);
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
    if (choices.cuts.contains(operand.get()))
      operand.set(whole(builder, operand.get(), HeldGradient::Whole));
}

/// The sum over ranks of `summand`, or the rank's tokens of it.
Value Sharder::sumOf(NodeBuilder &builder, Value summand, const std::optional<Cut> &tokens) {
  Value sum =
      tokens ? scatterSum(builder, summand, *tokens, ranks) : sumOverAxis(builder, summand, ranks);
  active.insert(sum);
  if (tokens)
    choices.cuts[sum] = *tokens;
  return sum;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

namespace {
/// What a product adds to its result, and the shape in which it broadcasts to that: a bias of
/// channels has dimensions of size one behind it.
struct Addend {
  Value value;
  SmallVector<int64_t> shape;
};
} // namespace

/// Takes operand `index` away from `product`; nothing if it has none.
static std::optional<Addend> takeAddend(onnx::NodeOp product, int64_t index) {
  if (index < 0 || !product.hasInput(index))
    return std::nullopt;
  RankedTensorType type = product.inputType(index);
  Addend addend{product.getInputs()[index], SmallVector<int64_t>(type.getShape())};
  for (const ops::Factor &factor : ops::factorsOf(product))
    if (int64_t dim = factor.operands[index], to = factor.results[0]; dim >= 0 && to >= 0)
      addend.shape.resize(product.outputType(0).getRank() - to + dim, 1);
  product->eraseOperand(index);
  return addend;
}

void Sharder::computeOnShards(onnx::NodeOp node, const ShardChoice &choice) {
  const Sharding &sharding = choice.sharding;
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  std::optional<Addend> addend;
  if (isPartial(sharding))
    addend = takeAddend(node, sharding.addend);
  for (auto [index, input] : llvm::enumerate(SmallVector<Value>(node.getInputs())))
    if (isa<RankedTensorType>(input.getType()))
      node.setOperand(index, withCut(builder, input, sharding.operands[index]));
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    const std::optional<Cut> &cut = sharding.results[index];
    if (!cut || isPartial(sharding))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(type.clone(*ops::shardShape(type, *cut, ranks.count)));
  }
  ops::adjustExtents(node, ranks.count);
  if (!isPartial(sharding))
    return;
  at.setInsertionPointAfter(node);
  Value summand = node.getResult(0);
  llvm::SmallPtrSet<Operation *, 4> readers(summand.user_begin(), summand.user_end());
  Value result = sumOf(builder, summand, choice.tokens);
  if (addend) {
    Value row = addend->value;
    if (choices.cuts.contains(row))
      row = whole(builder, row, HeldGradient::Whole);
    else if (choice.tokens)
      row = enterShards(builder, row, ranks);
    if (addend->shape != tensorType(row).getShape())
      row = builder.reshape(row, addend->shape);
    result = builder.add(result, row);
    active.insert(result);
    if (choice.tokens)
      choices.cuts[result] = *choice.tokens;
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

void Sharder::apply(Operation *op, const ShardChoice &choice) {
  switch (choice.kind) {
  case ShardChoice::Kind::Shards:
    return computeOnShards(cast<onnx::NodeOp>(op), choice);
  case ShardChoice::Kind::Table:
    return takeTable(cast<onnx::NodeOp>(op), choice.tokens);
  case ShardChoice::Kind::Classes:
    return takeClasses(cast<onnx::NodeOp>(op));
  case ShardChoice::Kind::Whole:
    return readWhole(op);
  }
}

LogicalResult Sharder::run() {
  if (failed(shardParameters()))
    return failure();
  for (const auto &[op, choice] : choices.ofOps)
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
    if (Mesh(module).tensorRanks() > 1 && failed(Sharder(module, *step, tokens).run()))
      signalPassFailure();
  }
};
} // namespace
