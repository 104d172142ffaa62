//===- Sharding.cpp - how operators compute on shards ---------------------===//

#include "zero/Ops/Sharding.h"

#include "Lowering.h"
#include "ShardingViews.h"
#include "zero/Ops/Attention.h"

using namespace mlir;

namespace zero::ops {

std::optional<SmallVector<int64_t>> shardShape(RankedTensorType type, const Cut &cut,
                                               int64_t ways) {
  SmallVector<int64_t> shape(type.getShape());
  if (shape[cut.dim] % ways != 0 ||
      llvm::any_of(cut.parts, [&](int64_t part) { return part % ways != 0; }))
    return std::nullopt;
  shape[cut.dim] /= ways;
  return shape;
}

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Cuts `factor` of `node` in `parts`. Nothing if something that it cuts does not divide, or if an
/// operator looks at neighbouring parts.
static std::optional<Sharding> cutFactor(onnx::NodeOp node, const Factor &factor,
                                         ArrayRef<int64_t> parts, int64_t ways) {
  Sharding sharding;
  sharding.kind = factor.kind;
  sharding.addend = factor.addend;
  auto add = [&](auto &list, RankedTensorType type, int64_t dim) {
    if (dim < 0)
      return list.push_back(std::nullopt), true;
    list.push_back(Cut{dim, SmallVector<int64_t>(parts)});
    return shardShape(type, *list.back(), ways).has_value();
  };
  for (auto [index, dim] : llvm::enumerate(factor.operands))
    if (!add(sharding.operands, dim < 0 ? RankedTensorType() : node.inputType(index), dim))
      return std::nullopt;
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    const int64_t dim =
        isTensor(result) && index < factor.results.size() ? factor.results[index] : -1;
    if (!add(sharding.results, dim < 0 ? RankedTensorType() : node.outputType(index), dim))
      return std::nullopt;
  }
  return sharding;
}

/// Operands of a view are its first one and numbers that say its shape.
static std::optional<Sharding> shardView(onnx::NodeOp node, const Cut &cut, bool byResult,
                                         int64_t ways) {
  ArrayRef<int64_t> from = node.inputType(0).getShape(), to = node.outputType(0).getShape();
  std::optional<Cut> other =
      byResult ? throughView(to, from, cut, ways) : throughView(from, to, cut, ways);
  if (!other)
    return std::nullopt;
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  sharding.operands[0] = byResult ? *other : cut;
  sharding.results.push_back(byResult ? cut : *other);
  return sharding;
}

/// The heads of a packed operand: those of queries, of keys and of values are cut by themselves.
static std::optional<Sharding> shardPackedHeads(onnx::NodeOp node, int64_t ways) {
  AttentionForm form(node);
  if (form.query.heads % ways != 0 || form.key.heads % ways != 0)
    return std::nullopt;
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  sharding.operands[0] = Cut{2,
                             {form.query.heads * form.query.width, form.key.heads * form.key.width,
                              form.value.heads * form.value.width}};
  sharding.results = {Cut{form.result.rowsFirst ? 2 : 1}, Cut{1}};
  if (node.hasInput(4) && node.inputType(4).getRank() == 4 &&
      node.inputType(4).getDimSize(1) == form.query.heads && form.query.heads > 1)
    sharding.operands[4] = Cut{1};
  return sharding;
}

/// The dimension of which the results of a Split are parts.
static int64_t splitAxis(onnx::NodeOp node) {
  return normalAxis(node.getInt("axis", 0), node.inputType(0).getRank());
}

/// A Split of a dimension whose parts are its results.
static std::optional<Sharding> shardSplitParts(onnx::NodeOp node, int64_t ways) {
  const int64_t axis = splitAxis(node);
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  Cut whole{axis};
  for (unsigned index = 0; index < node.getNumResults(); ++index) {
    whole.parts.push_back(node.outputType(index).getDimSize(axis));
    sharding.results.push_back(Cut{axis});
  }
  if (!shardShape(node.inputType(0), whole, ways))
    return std::nullopt;
  sharding.operands[0] = whole;
  return sharding;
}

static bool isViewNode(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  return def && def->kind == Kind::View && node.getInputs().size() >= 1 &&
         node.getNumResults() == 1 &&
         node.inputType(0).getNumElements() == node.outputType(0).getNumElements();
}

static bool isAttention(onnx::NodeOp node) {
  return node.isAnyOf({own::Attention, own::ContextAttention});
}

static bool isPackedAttention(onnx::NodeOp node) {
  return isAttention(node) && node.getAttrs().contains(kPackedHeads);
}

std::optional<Sharding> shardByOperand(onnx::NodeOp node, unsigned operand, const Cut &cut,
                                       int64_t ways) {
  if (isViewNode(node))
    return operand == 0 ? shardView(node, cut, /*byResult=*/false, ways) : std::nullopt;
  if (isPackedAttention(node) && operand == 0 && cut.dim == 2) {
    std::optional<Sharding> heads = shardPackedHeads(node, ways);
    return heads && heads->operands[0] == cut ? heads : std::nullopt;
  }
  if (node.is(op::Split) && operand == 0 && cut.dim == splitAxis(node)) {
    std::optional<Sharding> parts = shardSplitParts(node, ways);
    return parts && parts->operands[0] == cut ? parts : std::nullopt;
  }
  for (const Factor &factor : factorsOf(node))
    if (factor.operands[operand] == cut.dim)
      return cutFactor(node, factor, cut.parts, ways);
  return std::nullopt;
}

std::optional<Sharding> shardByResult(onnx::NodeOp node, unsigned result, const Cut &cut,
                                      int64_t ways) {
  if (isViewNode(node))
    return shardView(node, cut, /*byResult=*/true, ways);
  if (isPackedAttention(node) && cut.dim != 0 && cut.parts.empty()) {
    std::optional<Sharding> heads = shardPackedHeads(node, ways);
    return heads && heads->results[result] == cut ? heads : std::nullopt;
  }
  if (node.is(op::Split) && cut.parts.empty() && cut.dim == splitAxis(node))
    return shardSplitParts(node, ways);
  for (const Factor &factor : factorsOf(node))
    if (result < factor.results.size() && factor.results[result] == cut.dim)
      return cutFactor(node, factor, cut.parts, ways);
  return std::nullopt;
}

void adjustExtents(onnx::NodeOp node, int64_t ways) {
  NamedAttrList attrs(node.getAttrs());
  Builder builder(node.getContext());
  if (auto heads = node.getInts(kPackedHeads);
      heads && isAttention(node) && node.inputType(0).getDimSize(2) != 0) {
    // Batches may be cut, too; then heads stay.
    const int64_t width = node.outputType(0).getShape().back();
    const int64_t all = node.outputType(0).getNumElements() /
                        (node.inputType(0).getDimSize(0) * node.inputType(0).getDimSize(1) * width);
    if (all != heads->front())
      attrs.set(kPackedHeads,
                builder.getDenseI64ArrayAttr({heads->front() / ways, heads->back() / ways}));
  }
  if (node.getInts("split")) {
    SmallVector<int64_t> sizes;
    for (unsigned index = 0; index < node.getNumResults(); ++index)
      sizes.push_back(node.outputType(index).getDimSize(
          normalAxis(node.getInt("axis", 0), node.outputType(index).getRank())));
    attrs.set("split", builder.getDenseI64ArrayAttr(sizes));
  }
  // Gradients of operators that move elements name the shape of their result.
  auto result = dyn_cast<RankedTensorType>(node.getResult(0).getType());
  if (auto shape = node.getInts("shape");
      result && shape && int64_t(shape->size()) == result.getRank())
    attrs.set("shape", builder.getDenseI64ArrayAttr(result.getShape()));
  node.setAttrsAttr(attrs.getDictionary(node.getContext()));
  if (!node.isAnyOf({op::Reshape, op::Expand}))
    return;
  OpBuilder at(node);
  NodeBuilder nodes(at, node.getLoc(), node.getNode());
  node->setOperand(1, nodes.indices(result.getShape()));
}

} // namespace zero::ops
