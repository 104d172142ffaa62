//===- ShardPlan.cpp - find what can be sharded ---------------------------===//

#include "ShardPlan.h"

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Ops/AxisCollectives.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {

using ops::Cut;
using ops::Sharding;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

llvm::DenseSet<Value> findActive(ModuleOp module, func::FuncOp step) {
  SymbolTable symbols(module);
  llvm::DenseSet<Value> active;
  for (Operation &op : step.getBody().front()) {
    auto read = dyn_cast<ReadOp>(op);
    const bool isSource = read && symbols.lookup<ParameterOp>(read.getSymbol());
    if (!isSource &&
        llvm::none_of(op.getOperands(), [&](Value operand) { return active.contains(operand); }))
      continue;
    for (Value result : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType());
          type && isa<FloatType>(type.getElementType()))
        active.insert(result);
  }
  return active;
}

std::optional<Sharding> shardedBy(onnx::NodeOp node, unsigned operand, const Cut &cut,
                                  int64_t ways) {
  std::optional<Sharding> sharding = ops::shardByOperand(node, operand, cut, ways);
  const bool isSupported = sharding && (sharding->kind == ops::FactorKind::Parallel ||
                                        ops::computes(node, ops::Function::Product));
  return isSupported ? sharding : std::nullopt;
}

ShardPlan::ShardPlan(ModuleOp module, func::FuncOp step, int64_t ways)
    : module(module), step(step), ways(ways), active(findActive(module, step)) {
  for (auto parameter : module.getOps<ParameterOp>())
    parameters[parameter.getSymNameAttr()] = parameter;
  for (auto read : step.getBody().getOps<ReadOp>())
    reads[read.getSymbolAttr().getAttr()].push_back(read.getResult());
}

ParameterOp ShardPlan::parameterOf(Value value) const {
  auto read = value.getDefiningOp<ReadOp>();
  return read ? parameters.lookup(read.getSymbolAttr().getAttr()) : ParameterOp();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What one choice of a cut implies.
struct ShardPlan::Block {
  llvm::MapVector<Value, Cut> cuts;
  llvm::SmallVector<std::pair<Value, Cut>> work;
  bool hasSum = false; ///< ends in a product by rows
};

std::string describe(Operation *op) {
  if (auto node = dyn_cast<onnx::NodeOp>(op))
    return node.describe();
  return ("'" + op->getName().getStringRef() + "'").str();
}

static std::string describe(const Cut &cut, RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "dimension " << cut.dim << " of " << type;
  if (!cut.parts.empty()) {
    os << ", in parts of ";
    llvm::interleaveComma(cut.parts, os);
  }
  return text;
}

/// The op that made `value` computes its shard from shards of its operands.
std::string ShardPlan::growBackward(Block &block, Value value, const Cut &cut) {
  if (parameterOf(value))
    return "";
  auto node = value.getDefiningOp<onnx::NodeOp>();
  std::optional<Sharding> sharding =
      node ? ops::shardByResult(node, cast<OpResult>(value).getResultNumber(), cut, ways)
           : std::nullopt;
  if (!sharding)
    return (node ? describe(node) : std::string("an input")) + " cannot compute a shard of " +
           describe(cut, cast<RankedTensorType>(value.getType()));
  for (auto [operand, of] : llvm::zip_equal(node.getInputs(), sharding->operands))
    if (of && active.contains(operand))
      block.work.push_back({operand, *of});
  for (auto [result, of] : llvm::zip_equal(node.getOutputs(), sharding->results))
    if (of && result != value && active.contains(result))
      block.work.push_back({result, *of});
  return "";
}

/// Every op that reads `value` computes with its shard.
std::string ShardPlan::growForward(Block &block, Value value, const Cut &cut) {
  for (OpOperand &use : value.getUses()) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    std::optional<Sharding> sharding =
        node ? shardedBy(node, use.getOperandNumber(), cut, ways) : std::nullopt;
    if (!sharding)
      return describe(use.getOwner()) + " cannot compute with a shard of " +
             describe(cut, cast<RankedTensorType>(value.getType()));
    block.hasSum |= isPartial(*sharding);
    for (auto [operand, of] : llvm::zip_equal(node.getInputs(), sharding->operands))
      if (of && active.contains(operand))
        block.work.push_back({operand, *of});
    if (!isPartial(*sharding))
      for (auto [result, of] : llvm::zip_equal(node.getOutputs(), sharding->results))
        if (of && active.contains(result))
          block.work.push_back({result, *of});
  }
  return "";
}

std::string ShardPlan::visit(Block &block, Value value, const Cut &cut) {
  const auto *own = block.cuts.find(value);
  auto accepted = cuts.find(value);
  if (own != block.cuts.end() || accepted != cuts.end()) {
    const Cut &known = own != block.cuts.end() ? own->second : accepted->second;
    return known == cut ? "" : "two readers need different shards of it";
  }
  if (!ops::shardShape(cast<RankedTensorType>(value.getType()), cut, ways))
    return std::to_string(ways) + " ranks do not divide " +
           describe(cut, cast<RankedTensorType>(value.getType()));
  block.cuts[value] = cut;
  if (std::string why = growBackward(block, value, cut); !why.empty())
    return why;
  return growForward(block, value, cut);
}

std::string ShardPlan::grow(Block &block, Value value, const Cut &cut) {
  block.work.push_back({value, cut});
  while (!block.work.empty()) {
    auto [next, how] = block.work.pop_back_val();
    if (std::string why = visit(block, next, how); !why.empty())
      return why;
  }
  return "";
}

void ShardPlan::tryBlock(Value value, const Cut &cut, StringRef what) {
  if (cuts.contains(value))
    return;
  Block block;
  std::string why = grow(block, value, cut);
  if (why.empty() && !block.hasSum)
    why = "no product by rows follows";
  if (!why.empty()) {
    refused.push_back((what + " stays whole: " + why).str());
    return;
  }
  for (auto &[own, how] : block.cuts) {
    cuts[own] = how;
    if (ParameterOp parameter = parameterOf(own))
      chosen[parameter.getSymNameAttr()] = how;
  }
}

void ShardPlan::choose() {
  SmallVector<onnx::NodeOp> nodes(step.getBody().front().getOps<onnx::NodeOp>());
  for (onnx::NodeOp node : nodes)
    if (node.isAnyOf({own::Attention, own::ContextAttention})) {
      const bool rowsFirst = node.getInts("rows_first").value_or(SmallVector<int64_t>(4, 0))[3];
      tryBlock(node.getResult(0), Cut{rowsFirst ? 2 : 1}, node.describe());
    }
  for (auto parameter : module.getOps<ParameterOp>())
    tryTable(parameter);
  for (onnx::NodeOp node : nodes) {
    std::optional<ops::Factor> columns = ops::outputFactor(node, 1);
    ParameterOp weight = columns ? parameterOf(node.getInputs()[1]) : ParameterOp();
    if (weight && !chosen.contains(weight.getSymNameAttr()))
      tryBlock(node.getInputs()[1], Cut{columns->operands[1]}, node.describe());
  }
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

void ShardPlan::write() {
  MLIRContext *context = module.getContext();
  llvm::MapVector<std::pair<Type, ShardAttr>, SmallVector<StringRef>> kinds;
  SmallVector<FlatSymbolRefAttr> over{FlatSymbolRefAttr::get(context, kTensorAxis)};
  for (auto &[name, cut] : chosen) {
    ParameterOp parameter = parameters.lookup(name);
    auto shard = ShardAttr::get(context, cut.dim, over, cut.parts);
    parameter->setAttr(kShardAttr, shard);
    kinds[{parameter.getType(), shard}].push_back(parameter.getSymName());
  }
  auto remark = [&](StringRef name, const Twine &text) {
    remark::passed(module.getLoc(), remark::RemarkOpts::name(name).category("tensor"))
        << text.str();
  };
  for (auto &[kind, names] : kinds) {
    auto [type, shard] = kind;
    const std::string which =
        names.size() == 1
            ? ("parameter '" + names.front() + "'").str()
            : (Twine(names.size()) + " parameters like '" + names.front() + "'").str();
    remark("sharded", which + ": " + describe(cutFrom(shard), cast<RankedTensorType>(type)) +
                          " over " + Twine(ways) + " ranks");
  }
  for (const std::string &text : refused)
    remark("whole", text);
}

} // namespace zero
