//===- ContextAttention.cpp - attention of sequences cut over ranks -------===//
//
// zero::ContextAttention {over, ranks}, with the operands, attributes and results of
// zero::Attention: what that computes of whole sequences, for the tokens of one rank. Of 2n chunks
// of a sequence, rank r of the n along `over` has chunk r, then chunk 2n - 1 - r (takeTokens).
// Each rank has the mask of the keys of whole sequences; there is no mask of scores.
//
// A rank attends to its own keys as to a sequence of their own, because its chunks are in order.
// Then come those of rank j, one rank before it after the other: step t, j = r - t mod n. With
// `causal`, its late queries see the early keys of j, and of the other pairs of chunks one is seen,
// entirely: early queries and early keys if j < r, late queries and late keys if j > r. So each
// step is two products of a chunk by a chunk without a mask, on all ranks, and the schedule is
// static. Results are added up with the exponentials of their logarithms, relative to the largest
// one so far, and divided by the sum of these at the end (Liu et al., Ring Attention, arXiv
// 2310.01889).
//
// In backward, each block has the gradient of its own attention with the o and lse of all keys.
// Those of keys and values are summed by the rank that has them. Keys and values are gathered, and
// gathered again in backward; what is saved is of the rank's tokens. They are gathered by groups of
// heads, one for each rank if there are as many heads of keys, so that what is gathered has the
// size of the rank's own keys and values.
//
//===----------------------------------------------------------------------===//

#include "AttentionCore.h"
#include "dialects/Onnx/Operators.h"
#include "dialects/Onnx/OwnOperators.h"
#include "zero/Ops/AxisCollectives.h"
#include "zero/Ops/Concat.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace zero {

static constexpr int64_t kHeads = 1, kRows = 2; ///< dimensions
static constexpr unsigned kMask = 3;            ///< operand: the mask of keys

std::string whyNotAcross(onnx::NodeOp attention) {
  const AttentionForm form(attention);
  // The compiled kernel divides weights by their sum over the keys of a block.
  if (attention.inputType(form.first).getElementType().getIntOrFloatBitWidth() > 32)
    return "its elements have more than 32 bits";
  if (form.query.rows != form.key.rows || attention.getInt("offset", 0) != 0)
    return "it has other keys than its own tokens";
  if (attention.getInt(kWindow, 0) != 0 || attention.getInt(kPrefix, 0) != 0)
    return "it has a sliding window or a prefix";
  if (attention.hasInput(form.padding + 1))
    return "it has a mask of scores that is data";
  if (attention.hasInput(form.padding + 2))
    return "it has segments";
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

namespace {
/// Rows of queries and what belongs to them: their results, and gradients in backward.
struct Rows {
  Value query, result, lse, slope;
};
struct Keys {
  Value key, value, mask; ///< the mask: null, or [batch or 1, rows]
};
/// What rows have seen so far: the sum of results, weighted by exp(lse - top), and of weights.
struct Seen {
  Value result, top, weight;
};

/// Some heads of one node under expansion.
class Across {
public:
  Across(onnx::NodeOp node, NodeBuilder &builder, const Keys &own)
      : node(node), builder(builder),
        ranks{node.getString("over", "").str(), node.getInt("ranks", 1)},
        isCausal(node.getInt("causal", 0) != 0), own(own), rank(coordinateOf(builder, ranks)) {
    this->own.mask = maskOf(rank);
  }

  /// The sum of weighted results, the largest logarithm and that of the sum of exp.
  SmallVector<Value> forward(Value query);
  /// The gradients of queries, keys and values.
  SmallVector<Value> backward(const Rows &all);

private:
  Keys gather();
  Keys ofStep(const Keys &all, int64_t step);
  Value isBehind(int64_t step);
  std::array<Value, 2> halves(Value value, int64_t rows = kRows);
  std::array<Keys, 2> halves(const Keys &keys);
  Keys select(Value condition, const Keys &a, const Keys &b);
  Value maskOf(Value coordinate);
  Value finite(Value lse);
  Value wide(Value value) {
    return builder.cast(value, tensorType(node.getResult(1)).getElementType());
  }

  Rows attend(Value query, const Keys &keys, bool causal);
  Seen begin(Value result, Value lse);
  Seen add(const Seen &seen, const Rows &rows);
  Rows unless(Value condition, Rows rows);
  SmallVector<Value> gradients(const Rows &rows, const Keys &keys, bool causal);
  SmallVector<Value> causalGradients(const std::array<Rows, 2> &rows, const Keys &keys,
                                     int64_t step);
  Value sumOfOwn(ArrayRef<Value> ofSteps, Value like);

  onnx::NodeOp node;
  NodeBuilder &builder;
  AxisRanks ranks;
  bool isCausal;
  Keys own; ///< of the rank
  Value rank;
};
} // namespace

/// Keys and values of all ranks, which are the first dimension.
Keys Across::gather() {
  auto all = [&](Value value) {
    SmallVector<int64_t> shape(tensorType(value).getShape());
    shape.insert(shape.begin(), ranks.count);
    return builder
        .create(own::AxisGather, tensorType(value).clone(shape), value,
                {builder.attr("over", ranks.name), builder.attr("ranks", ranks.count)})
        .getResult(0);
  };
  return {all(own.key), all(own.value), {}};
}

/// Whether the keys of `step` are those of a rank with a lower number.
Value Across::isBehind(int64_t step) {
  auto type = RankedTensorType::get({}, builder.getBuilder().getI1Type());
  return builder
      .create(op::GreaterOrEqual, type, {rank, builder.scalar(double(step), rank.getType())})
      .getResult(0);
}

/// Those of the rank `step` before this one.
Keys Across::ofStep(const Keys &all, int64_t step) {
  auto number = [&](int64_t value) { return builder.scalar(double(value), rank.getType()); };
  Value before =
      builder.add(rank, builder.where(isBehind(step), number(-step), number(ranks.count - step)));
  return {builder.gather(all.key, before, 0), builder.gather(all.value, before, 0), maskOf(before)};
}

/// The mask of the keys that the rank with `coordinate` has: each rank has that of all keys.
Value Across::maskOf(Value coordinate) {
  return node.hasInput(kMask)
             ? takeTokensOf(builder, node.getInputs()[kMask], Cut{1}, ranks, coordinate)
             : Value();
}

/// The rows of the early chunk and of the late one.
std::array<Value, 2> Across::halves(Value value, int64_t rows) {
  const int64_t chunk = tensorType(value).getDimSize(rows) / 2;
  SmallVector<Value> parts = splitNode(builder, value, {chunk, chunk}, rows);
  return {parts[0], parts[1]};
}

std::array<Keys, 2> Across::halves(const Keys &keys) {
  const auto key = halves(keys.key), value = halves(keys.value);
  const auto mask = keys.mask ? halves(keys.mask, 1) : std::array<Value, 2>();
  return {Keys{key[0], value[0], mask[0]}, Keys{key[1], value[1], mask[1]}};
}

Keys Across::select(Value condition, const Keys &a, const Keys &b) {
  return {builder.where(condition, a.key, b.key), builder.where(condition, a.value, b.value),
          a.mask ? builder.where(condition, a.mask, b.mask) : Value()};
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// `lse`, in which rows whose keys are all hidden have a finite number, of which the exponential is
/// nothing beside others: the kernel says infinity, or a number as small as the fill of masks.
Value Across::finite(Value lse) {
  constexpr double kLeast = -1e30;
  Value least = builder.scalar(kLeast, lse.getType());
  auto type = tensorType(lse).clone(builder.getBuilder().getI1Type());
  Value isHidden =
      builder.create(op::GreaterOrEqual, type, {lse, builder.scalar(-kLeast, lse.getType())})
          .getResult(0);
  return builder.binary(op::Max, builder.where(isHidden, least, lse), least);
}

Rows Across::attend(Value query, const Keys &keys, bool causal) {
  SmallVector<NamedAttribute> attrs{builder.attr("scale", node.getFloat("scale", 1)),
                                    builder.attr("fill", node.getFloat("fill", 0)),
                                    builder.attr("causal", int64_t(causal)),
                                    builder.attr("guard", int64_t(1))};
  Value none = builder.none();
  Value mask = keys.mask ? keys.mask : none;
  auto made = createAttention(builder, {query, keys.key, keys.value, mask, none}, attrs);
  Value lse = made.getResult(1);
  return {query, wide(made.getResult(0)), keys.mask ? finite(lse) : lse, {}};
}

/// `weights`, by which rows are multiplied.
static Value asColumn(NodeBuilder &builder, Value weights) {
  SmallVector<int64_t> shape(tensorType(weights).getShape());
  shape.push_back(1);
  return builder.reshape(weights, shape);
}

Seen Across::begin(Value result, Value lse) {
  return {result, lse, builder.splat(1, tensorType(lse))};
}

Seen Across::add(const Seen &seen, const Rows &rows) {
  Value top = builder.binary(op::Max, seen.top, rows.lse);
  Value before = builder.unary(op::Exp, builder.sub(seen.top, top));
  Value own = builder.unary(op::Exp, builder.sub(rows.lse, top));
  auto weighted = [&](Value weights, Value result) {
    return builder.mul(asColumn(builder, weights), result);
  };
  return {builder.add(weighted(before, seen.result), weighted(own, rows.result)), top,
          builder.add(builder.mul(before, seen.weight), own)};
}

/// `rows`, or, if `condition`, rows that have seen no key.
Rows Across::unless(Value condition, Rows rows) {
  Value nothing = builder.scalar(-std::numeric_limits<double>::infinity(), rows.lse.getType());
  rows.lse = builder.where(condition, nothing, rows.lse);
  return rows;
}

SmallVector<Value> Across::forward(Value query) {
  const Rows rows = attend(query, own, isCausal);
  const Keys gathered = gather();
  auto end = [&](const Seen &seen) -> SmallVector<Value> {
    return {seen.result, seen.top, builder.add(seen.top, builder.unary(op::Log, seen.weight))};
  };
  if (!isCausal) {
    Seen all = begin(rows.result, rows.lse);
    for (int64_t step = 1; step < ranks.count; ++step)
      all = add(all, attend(query, ofStep(gathered, step), false));
    return end(all);
  }
  const auto queries = halves(query), results = halves(rows.result), sums = halves(rows.lse);
  Seen early = begin(results[0], sums[0]), late = begin(results[1], sums[1]);
  for (int64_t step = 1; step < ranks.count; ++step) {
    const Keys keys = ofStep(gathered, step);
    const auto chunks = halves(keys);
    late = add(late, attend(queries[1], chunks[0], false));
    Value behind = isBehind(step);
    const Rows either = attend(builder.where(behind, queries[0], queries[1]),
                               select(behind, chunks[0], chunks[1]), false);
    early = add(early, unless(builder.unary(op::Not, behind), either));
    late = add(late, unless(behind, either));
  }
  return llvm::map_to_vector(llvm::zip_equal(end(early), end(late)), [&](const auto &pair) {
    return concatNode(builder, {std::get<0>(pair), std::get<1>(pair)}, kRows);
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// The gradients of queries, keys and values.
SmallVector<Value> Across::gradients(const Rows &rows, const Keys &keys, bool causal) {
  Value none = builder.none();
  SmallVector<NamedAttribute> attrs{builder.attr("scale", node.getFloat("scale", 1)),
                                    builder.attr("fill", node.getFloat("fill", 0)),
                                    builder.attr("causal", int64_t(causal)),
                                    builder.attr("guard", int64_t(1))};
  auto made = builder.create(own::AttentionGrad,
                             {rows.query.getType(), keys.key.getType(), keys.value.getType()},
                             {rows.slope, rows.query, keys.key, keys.value, rows.result, rows.lse,
                              keys.mask ? keys.mask : none, none},
                             attrs);
  return llvm::map_to_vector(made.getResults(), [&](Value gradient) { return wide(gradient); });
}

/// As `gradients`, for the keys of `step` and the early and late rows of queries.
SmallVector<Value> Across::causalGradients(const std::array<Rows, 2> &rows, const Keys &keys,
                                           int64_t step) {
  const auto chunks = halves(keys);
  Value behind = isBehind(step);
  auto either = [&](Value Rows::*of) { return builder.where(behind, rows[0].*of, rows[1].*of); };
  SmallVector<Value> first = gradients(rows[1], chunks[0], false);
  SmallVector<Value> second = gradients(
      {either(&Rows::query), either(&Rows::result), either(&Rows::lse), either(&Rows::slope)},
      select(behind, chunks[0], chunks[1]), false);
  SmallVector<Value> results;
  for (auto [index, one, other] : llvm::enumerate(first, second)) {
    Value zero = builder.scalar(0, other.getType());
    Value early = builder.where(behind, other, zero), late = builder.where(behind, zero, other);
    const bool isOfQueries = index == 0; // the first product is of late queries and early keys
    (isOfQueries ? late : early) = builder.add(isOfQueries ? late : early, one);
    results.push_back(concatNode(builder, {early, late}, kRows));
  }
  return results;
}

/// The sum over ranks of the gradients that each has for the keys of this rank. `ofSteps`: by step.
Value Across::sumOfOwn(ArrayRef<Value> ofSteps, Value like) {
  SmallVector<int64_t> shape(tensorType(like).getShape()), numbers;
  shape.insert(shape.begin(), 1);
  SmallVector<Value> parts;
  for (auto [step, part] : llvm::enumerate(ofSteps)) {
    parts.push_back(builder.reshape(part, shape));
    numbers.push_back(-int64_t(step));
  }
  // Rank j is in step r - j mod n.
  Value steps = builder.add(builder.indices(numbers), rank);
  Value isAhead = builder
                      .create(op::Less, tensorType(steps).clone(builder.getBuilder().getI1Type()),
                              {steps, builder.scalar(0, rank.getType())})
                      .getResult(0);
  Value turned = builder.add(steps, builder.scalar(double(ranks.count), rank.getType()));
  Value ofRanks =
      builder.gather(concatNode(builder, parts, 0), builder.where(isAhead, turned, steps), 0);
  ofRanks = builder.cast(ofRanks, tensorType(like).getElementType());
  return builder
      .create(own::AxisScatterSum, like.getType(), ofRanks,
              {builder.attr("over", ranks.name), builder.attr("ranks", ranks.count)})
      .getResult(0);
}

SmallVector<Value> Across::backward(const Rows &all) {
  const Keys gathered = gather();
  SmallVector<Value> sums = gradients(all, own, isCausal), keys{sums[1]}, values{sums[2]};
  std::array<Rows, 2> rows;
  if (isCausal)
    for (Value Rows::*of : {&Rows::query, &Rows::result, &Rows::lse, &Rows::slope}) {
      const auto parts = halves(all.*of);
      rows[0].*of = parts[0];
      rows[1].*of = parts[1];
    }
  for (int64_t step = 1; step < ranks.count; ++step) {
    const Keys other = ofStep(gathered, step);
    SmallVector<Value> made =
        isCausal ? causalGradients(rows, other, step) : gradients(all, other, false);
    sums[0] = builder.add(sums[0], made[0]);
    keys.push_back(made[1]);
    values.push_back(made[2]);
  }
  Value query = builder.cast(sums[0], tensorType(all.query).getElementType());
  return {query, sumOfOwn(keys, own.key), sumOfOwn(values, own.value)};
}

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
  SmallVector<Value> split(Value value);
  Value join(ArrayRef<SmallVector<Value>> groups, size_t index);

  onnx::NodeOp node;
  NodeBuilder &builder;
  AttentionForm form;
  int64_t count;
  SmallVector<SmallVector<Value>> operands;
};
} // namespace

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
    groups.push_back(
        Across(node, builder, {operands[1][i], operands[2][i], {}}).forward(operands[0][i]));
  Value top = join(groups, 1), lse = join(groups, 2);
  Value share = asColumn(builder, builder.unary(op::Exp, builder.sub(top, lse)));
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
    groups.push_back(Across(node, builder, {operands[1][i], operands[2][i], {}})
                         .backward({operands[0][i], results[i], sums[i], slopes[i]}));
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
  if (wanted.size() > kMask && wanted[kMask])
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
