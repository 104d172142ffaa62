//===- ShardChoices.cpp - what nodes do with shards -----------------------===//

#include "ShardChoices.h"

#include "ShardPlan.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Ops/AxisCollectives.h"
#include "zero/Ops/Tables.h"

using namespace mlir;

namespace zero {

using ops::Cut;
using ops::Sharding;

namespace {
class Chooser {
public:
  Chooser(ModuleOp module, func::FuncOp step, int64_t ways, bool cutsTokens)
      : module(module), step(step), ways(ways), cutsTokens(cutsTokens) {}

  ShardChoices run();

private:
  std::optional<ShardChoice> choose(onnx::NodeOp node) const;
  std::optional<Sharding> shardingOf(onnx::NodeOp node) const;
  bool cutsWholeMatrix(onnx::NodeOp node, const Sharding &sharding) const;
  std::optional<Cut> tokensOf(Value sum) const;
  std::optional<Cut> cutOf(Value value) const { return choices.cutOf(value); }

  ModuleOp module;
  func::FuncOp step;
  int64_t ways;
  bool cutsTokens;
  ShardChoices choices;
};
} // namespace

/// Whether `node` would need a shard of a matrix that the plan leaves whole on each rank.
bool Chooser::cutsWholeMatrix(onnx::NodeOp node, const Sharding &sharding) const {
  return llvm::any_of(llvm::zip(node.getInputs(), sharding.operands), [&](const auto &pair) {
    auto [input, cut] = pair;
    return cut && !cutOf(input) && isa_and_nonnull<ReadOp>(input.getDefiningOp()) &&
           cast<RankedTensorType>(input.getType()).getRank() > 1;
  });
}

/// How `node` computes on the shards that it gets. Cuts of parameters come first: to gather these
/// would cost the most.
std::optional<Sharding> Chooser::shardingOf(onnx::NodeOp node) const {
  for (const bool ofParameter : {true, false})
    for (auto [index, input] : llvm::enumerate(node.getInputs())) {
      std::optional<Cut> cut = cutOf(input);
      if (!cut || bool(input.getDefiningOp<ReadOp>()) != ofParameter)
        continue;
      std::optional<Sharding> sharding = shardedBy(node, index, *cut, ways);
      if (sharding && !cutsWholeMatrix(node, *sharding))
        return sharding;
    }
  return std::nullopt;
}

std::optional<ShardChoice> Chooser::choose(onnx::NodeOp node) const {
  using Kind = ShardChoice::Kind;
  if (llvm::none_of(node.getInputs(), [&](Value input) { return choices.cuts.contains(input); }))
    return std::nullopt;
  const std::optional<Cut> first = cutOf(node.getInputs()[0]);
  if (first == Cut{0} && ops::readsTable(node->getOpOperand(0)))
    return ShardChoice{Kind::Table};
  if (first == Cut{1} && ops::isPlainLoss(node))
    return ShardChoice{Kind::Classes};
  if (std::optional<Sharding> sharding = shardingOf(node))
    return ShardChoice{Kind::Shards, *sharding};
  return ShardChoice{Kind::Whole};
}

/// How the tokens of a sum over ranks are cut: along the first dimension but the last that the
/// ranks divide. Ops on rows do not care which tokens they have.
std::optional<Cut> Chooser::tokensOf(Value sum) const {
  auto type = cast<RankedTensorType>(sum.getType());
  for (int64_t dim = 0; cutsTokens && dim + 1 < type.getRank(); ++dim)
    if (ops::shardShape(type, Cut{dim}, ways))
      return Cut{dim};
  return std::nullopt;
}

ShardChoices Chooser::run() {
  SymbolTable symbols(module);
  for (Operation &op : step.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (ShardAttr shard = shardOf(symbols.lookup(read.getSymbol())))
        choices.cuts[read.getResult()] = cutFrom(shard);
      continue;
    }
    auto node = dyn_cast<onnx::NodeOp>(op);
    std::optional<ShardChoice> choice = node ? choose(node) : ShardChoice{ShardChoice::Kind::Whole};
    if (!choice)
      continue;
    // Rows of a matrix product are tokens.
    const bool sumsTokens = node && ops::isProduct(node) && isPartial(choice->sharding);
    if (choice->kind == ShardChoice::Kind::Table || sumsTokens) {
      choice->tokens = tokensOf(op.getResult(0));
      if (choice->tokens)
        choices.cuts[op.getResult(0)] = *choice->tokens;
    }
    choices.ofOps[&op] = *choice;
    if (!isPartial(choice->sharding))
      for (auto [result, cut] : llvm::zip(op.getResults(), choice->sharding.results))
        if (cut)
          choices.cuts[result] = *cut;
  }
  return std::move(choices);
}

ShardChoices chooseShards(ModuleOp module, func::FuncOp step, int64_t ways, bool cutsTokens) {
  return Chooser(module, step, ways, cutsTokens).run();
}

} // namespace zero
