//===- ContextAttention.cpp - attention of sequences cut over ranks -------===//
//
// zero::ContextAttention {over, ranks}, with the operands, attributes and results of
// zero::Attention: what that computes of whole sequences, for the tokens of one rank. Of 2n chunks
// of a sequence, rank r of the n along `over` has chunk r, then chunk 2n - 1 - r (takeTokens).
// Each rank has the mask of the keys and the segments of whole sequences; there is no mask of
// scores.
//
// Queries attend to one block of keys after the other (ContextRanks.cpp, or ContextChunks.cpp with
// a sliding window; ContextPrefix.cpp has the keys of a prefix behind a query). Results are added
// up with the exponentials of their logarithms, relative to the largest one so far, and divided by
// the sum of these at the end (Liu et al., Ring Attention, arXiv 2310.01889). In backward, each
// block has the gradient of its own attention with the o and lse of all keys. Those of keys and
// values are summed by the rank that has them.
//
// Keys and values are gathered, and gathered again in backward; what is saved is of the rank's
// tokens. They are gathered by groups of heads, one for each rank if there are as many heads of
// keys, so that what is gathered has the size of the rank's own keys and values. A gather may run
// beside the attention in front of it.
//
//===----------------------------------------------------------------------===//

#include "ContextBlocks.h"
#include "dialects/Onnx/Operators.h"
#include "dialects/Onnx/OwnOperators.h"
#include "zero/Ops/Concat.h"

#include <numeric>

using namespace mlir;

namespace zero {

static constexpr int64_t kHeads = 1; ///< dimension

std::string whyNotAcross(onnx::NodeOp attention) {
  const AttentionForm form(attention);
  // The compiled kernel divides weights by their sum over the keys of a block.
  if (attention.inputType(form.first).getElementType().getIntOrFloatBitWidth() > 32)
    return "its elements have more than 32 bits";
  const bool hasWindow = attention.getInt(kWindow, 0) != 0;
  if (form.query.rows != form.key.rows || (!hasWindow && attention.getInt("offset", 0) != 0))
    return "it has other keys than its own tokens";
  if (attention.getInt(kPrefix, 0) != 0 && attention.getInt("offset", 0) != 0)
    return "it has a prefix and shows keys behind a query";
  if (attention.hasInput(form.padding + 1))
    return "it has a mask of scores that is data";
  return "";
}

onnx::NodeOp attendAcross(onnx::NodeOp attention, const AxisRanks &ranks) {
  OpBuilder at(attention);
  NodeBuilder builder(at, attention.getLoc(), attention.getNode());
  NamedAttrList attrs(attention.getAttrs());
  attrs.append(builder.attr("over", ranks.name));
  attrs.append(builder.attr("ranks", ranks.count));
  onnx::NodeOp made = builder.create(own::ContextAttention, attention->getResultTypes(),
                                     attention.getInputs(), attrs.getAttrs());
  attention->replaceAllUsesWith(made.getResults());
  attention.erase();
  return made;
}

namespace ops {

//===----------------------------------------------------------------------===//
// Groups of heads
//===----------------------------------------------------------------------===//

namespace {
/// A node under expansion, its operands by groups of heads: as many as there are ranks, if there
/// are enough heads of keys.
class Groups {
public:
  Groups(onnx::NodeOp node, NodeBuilder &builder)
      : node(node), builder(builder), form(node),
        count(std::gcd(form.key.heads, node.getInt("ranks", 1))) {
    for (Value value : headsNodes(builder, node, form))
      operands.push_back(split(value));
  }

  SmallVector<Value> forward();
  SmallVector<Value> backward(Value slope);

private:
  std::unique_ptr<ContextBlocks> blocksOf(int64_t group);
  SmallVector<Value> split(Value value);
  Value join(ArrayRef<SmallVector<Value>> groups, size_t index);

  onnx::NodeOp node;
  NodeBuilder &builder;
  AttentionForm form;
  int64_t count;
  SmallVector<SmallVector<Value>> operands;
};
} // namespace

std::unique_ptr<ContextBlocks> Groups::blocksOf(int64_t group) {
  const Keys keys{operands[1][group], operands[2][group], {}, {}};
  return node.getInt(kWindow, 0) == 0 ? orderByRanks(node, builder, keys)
                                      : orderByChunks(node, builder, keys);
}

SmallVector<Value> Groups::split(Value value) {
  if (count == 1)
    return {value};
  const SmallVector<int64_t> sizes(count, tensorType(value).getDimSize(kHeads) / count);
  return splitNode(builder, value, sizes, kHeads);
}

/// All heads of result `index` of each group.
Value Groups::join(ArrayRef<SmallVector<Value>> groups, size_t index) {
  if (count == 1)
    return groups[0][index];
  return concatNode(builder,
                    llvm::map_to_vector(groups, [&](const auto &group) { return group[index]; }),
                    kHeads);
}

SmallVector<Value> Groups::forward() {
  SmallVector<SmallVector<Value>> groups;
  for (int64_t i = 0; i < count; ++i)
    groups.push_back(blocksOf(i)->forward(operands[0][i]));
  Value top = join(groups, 1), lse = join(groups, 2);
  SmallVector<int64_t> column(tensorType(lse).getShape());
  column.push_back(1);
  Value share = builder.reshape(builder.unary(op::Exp, builder.sub(top, lse)), column);
  Value result = builder.cast(builder.mul(share, join(groups, 0)),
                              tensorType(node.getResult(0)).getElementType());
  return {headsNode(builder, result, form.result), lse};
}

SmallVector<Value> Groups::backward(Value slope) {
  SmallVector<Value> results = split(headsNode(builder, node.getResult(0), form.result));
  SmallVector<Value> sums = split(node.getResult(1));
  SmallVector<Value> slopes = split(headsNode(builder, slope, form.result));
  SmallVector<SmallVector<Value>> groups;
  for (int64_t i = 0; i < count; ++i)
    groups.push_back(blocksOf(i)->backward({operands[0][i], {}, results[i], sums[i], slopes[i]}));
  return storedNodes(builder, {join(groups, 0), join(groups, 1), join(groups, 2)}, form);
}

static LogicalResult expandAcross(onnx::NodeOp node, NodeBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  llvm::append_range(results, Groups(node, builder).forward());
  return success();
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (dy[1])
    return node.emitError() << "no gradient through the sums of " << node.describe();
  if (wanted.size() > ContextBlocks::kMask && wanted[ContextBlocks::kMask])
    return node.emitError() << "no gradient for the mask of keys of " << node.describe()
                            << "; leave out the axis 'context'";
  if (!llvm::is_contained(wanted, true))
    return success();
  for (auto [index, made] : llvm::enumerate(Groups(node, builder).backward(dy[0])))
    if (wanted[index])
      grads[index] = made;
  return success();
}

void registerContextAttention() {
  registerOp(OpDef{own::ContextAttention, 1, 1, Kind::Other, nullptr, gradient, expandAcross}
                 .keepsWide(/*results=*/2)
                 .dividedBy(attentionFactors));
}

} // namespace ops
} // namespace zero
