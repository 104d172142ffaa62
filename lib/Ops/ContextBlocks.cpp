//===- ContextBlocks.cpp - attention to keys of other ranks ---------------===//

#include "ContextBlocks.h"

#include "dialects/Onnx/Operators.h"
#include "dialects/Onnx/OwnOperators.h"
#include "zero/Ops/Concat.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace zero::ops {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

ContextBlocks::ContextBlocks(onnx::NodeOp node, NodeBuilder &builder, const Keys &own)
    : node(node), builder(builder),
      ranks{node.getString("over", "").str(), node.getInt("ranks", 1)},
      isCausal(node.getInt("causal", 0) != 0), prefix(isCausal ? node.getInt(kPrefix, 0) : 0),
      rank(coordinateOf(builder, ranks)), own(own),
      canHide(node.hasInput(kMask) || node.hasInput(kKeySegments) || node.getInt(kWindow, 0) != 0 ||
              prefix != 0) {
  this->own.mask = tokensOf(kMask, rank);
  this->own.segments = tokensOf(kKeySegments, rank);
}

//===----------------------------------------------------------------------===//
// Rows and keys
//===----------------------------------------------------------------------===//

Value ContextBlocks::wide(Value value) {
  return builder.cast(value, tensorType(node.getResult(1)).getElementType());
}

Keys ContextBlocks::gather() {
  auto all = [&](Value value) {
    SmallVector<int64_t> shape(tensorType(value).getShape());
    shape.insert(shape.begin(), ranks.count);
    return builder
        .create(own::AxisGather, tensorType(value).clone(shape), value,
                {builder.attr("over", ranks.name), builder.attr("ranks", ranks.count)})
        .getResult(0);
  };
  return {all(own.key), all(own.value), {}, {}};
}

Value ContextBlocks::tokensOf(unsigned index, Value coordinate) {
  return node.hasInput(index)
             ? takeTokensOf(builder, node.getInputs()[index], Cut{kTokens}, ranks, coordinate)
             : Value();
}

Value ContextBlocks::querySegments() { return tokensOf(kQuerySegments, rank); }

Value ContextBlocks::isAtLeast(int64_t least) {
  auto type = RankedTensorType::get({}, builder.getBuilder().getI1Type());
  return builder.create(op::GreaterOrEqual, type, {rank, number(least)}).getResult(0);
}

std::array<Value, 2> ContextBlocks::halves(Value value, int64_t dim) {
  if (!value)
    return {};
  const int64_t chunk = tensorType(value).getDimSize(dim) / 2;
  SmallVector<Value> parts = splitNode(builder, value, {chunk, chunk}, dim);
  return {parts[0], parts[1]};
}

std::array<Keys, 2> ContextBlocks::halves(const Keys &keys) {
  const auto key = halves(keys.key, kRows), value = halves(keys.value, kRows);
  const auto mask = halves(keys.mask, kTokens), segments = halves(keys.segments, kTokens);
  return {Keys{key[0], value[0], mask[0], segments[0]},
          Keys{key[1], value[1], mask[1], segments[1]}};
}

std::array<Rows, 2> ContextBlocks::halves(const Rows &rows) {
  std::array<Rows, 2> chunks;
  for (Value Rows::*of : {&Rows::query, &Rows::result, &Rows::lse, &Rows::slope}) {
    const auto parts = halves(rows.*of, kRows);
    chunks[0].*of = parts[0];
    chunks[1].*of = parts[1];
  }
  const auto segments = halves(rows.segments, kTokens);
  chunks[0].segments = segments[0];
  chunks[1].segments = segments[1];
  return chunks;
}

Keys ContextBlocks::select(Value condition, const Keys &a, const Keys &b) {
  auto either = [&](Value Keys::*of) {
    return a.*of ? builder.where(condition, a.*of, b.*of) : Value();
  };
  return {either(&Keys::key), either(&Keys::value), either(&Keys::mask), either(&Keys::segments)};
}

Keys ContextBlocks::heldOf(Value chunk, int64_t tokens) {
  SmallVector<int64_t> numbers(tokens);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto held = [&](unsigned index) -> Value {
    if (!node.hasInput(index))
      return {};
    Value first = builder.mul(chunk, number(tokens));
    return builder.gather(node.getInputs()[index], builder.add(builder.indices(numbers), first),
                          kTokens);
  };
  return {{}, {}, held(kMask), held(kKeySegments)};
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

// A row that sees no key has a finite number instead of its logarithm, so that differences are
// numbers. Its exponential is nothing beside others.
static constexpr double kLeast = -1e30;

/// `lse`, in which rows whose keys are all hidden have kLeast: the kernel says infinity, or a
/// number as small as those that masks add.
Value ContextBlocks::finite(Value lse) {
  Value least = builder.scalar(kLeast, lse.getType());
  auto type = tensorType(lse).clone(builder.getBuilder().getI1Type());
  Value isHidden =
      builder.create(op::GreaterOrEqual, type, {lse, builder.scalar(-kLeast, lse.getType())})
          .getResult(0);
  return builder.binary(op::Max, builder.where(isHidden, least, lse), least);
}

/// What is hidden has no weight: a row may see no key of a block.
SmallVector<NamedAttribute> ContextBlocks::attributes(const Bounds &bounds) {
  return {builder.attr("scale", node.getFloat("scale", 1)),
          builder.attr("fill", -kInfinity),
          builder.attr("causal", int64_t(bounds.causal)),
          builder.attr("offset", bounds.offset),
          builder.attr(kWindow, bounds.window),
          builder.attr("guard", int64_t(1))};
}

Rows ContextBlocks::attend(const Rows &rows, const Keys &keys, const Bounds &bounds) {
  Value none = builder.none();
  SmallVector<Value> operands{rows.query, keys.key, keys.value, keys.mask ? keys.mask : none, none};
  if (keys.segments)
    operands.append({rows.segments, keys.segments});
  auto made = createAttention(builder, operands, attributes(bounds));
  Value lse = made.getResult(1);
  return {rows.query, rows.segments, wide(made.getResult(0)), canHide ? finite(lse) : lse, {}};
}

/// `weights`, by which rows are multiplied.
static Value asColumn(NodeBuilder &builder, Value weights) {
  SmallVector<int64_t> shape(tensorType(weights).getShape());
  shape.push_back(1);
  return builder.reshape(weights, shape);
}

Seen ContextBlocks::begin(const Rows &rows) {
  return {rows.result, rows.lse, builder.splat(1, tensorType(rows.lse))};
}

Seen ContextBlocks::add(const Seen &seen, const Rows &rows) {
  Value top = builder.binary(op::Max, seen.top, rows.lse);
  Value before = builder.unary(op::Exp, builder.sub(seen.top, top));
  Value own = builder.unary(op::Exp, builder.sub(rows.lse, top));
  auto weighted = [&](Value weights, Value result) {
    return builder.mul(asColumn(builder, weights), result);
  };
  return {builder.add(weighted(before, seen.result), weighted(own, rows.result)), top,
          builder.add(builder.mul(before, seen.weight), own)};
}

/// Rows that have seen no key have the logarithm infinity, so that weights in backward are zeros.
SmallVector<Value> ContextBlocks::end(ArrayRef<Seen> chunks) {
  SmallVector<SmallVector<Value>> results(3);
  for (const Seen &seen : chunks) {
    Value lse = builder.add(seen.top, builder.unary(op::Log, seen.weight));
    if (canHide) {
      Value isHidden = builder.binary(op::Less, lse, builder.scalar(kLeast / 2, lse.getType()));
      lse = builder.where(isHidden, builder.scalar(kInfinity, lse.getType()), lse);
    }
    results[0].push_back(seen.result);
    results[1].push_back(seen.top);
    results[2].push_back(lse);
  }
  return llvm::map_to_vector(results, [&](const SmallVector<Value> &parts) {
    return parts.size() == 1 ? parts[0] : concatNode(builder, parts, kRows);
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

SmallVector<Value> ContextBlocks::gradients(const Rows &rows, const Keys &keys,
                                            const Bounds &bounds) {
  Value none = builder.none();
  SmallVector<Value> operands{rows.slope,
                              rows.query,
                              keys.key,
                              keys.value,
                              rows.result,
                              rows.lse,
                              keys.mask ? keys.mask : none,
                              none};
  if (keys.segments)
    operands.append({rows.segments, keys.segments});
  auto made = builder.create(own::AttentionGrad,
                             {rows.query.getType(), keys.key.getType(), keys.value.getType()},
                             operands, attributes(bounds));
  return llvm::map_to_vector(made.getResults(), [&](Value gradient) { return wide(gradient); });
}

Value ContextBlocks::sumOverRanks(Value ofRanks, Value more, Value like) {
  if (more)
    ofRanks = builder.add(ofRanks, more);
  ofRanks = builder.cast(ofRanks, tensorType(like).getElementType());
  return builder
      .create(own::AxisScatterSum, like.getType(), ofRanks,
              {builder.attr("over", ranks.name), builder.attr("ranks", ranks.count)})
      .getResult(0);
}

} // namespace zero::ops
