//===- ContextRanks.cpp - attention to the keys of one rank at a time -----===//
//
// A rank attends to its own keys as to a sequence of their own, because its chunks are in order.
// Then come those of rank j, one rank before it after the other: step t, j = r - t mod n. With
// `causal`, its late queries see the early keys of j, and of the other pairs of chunks one is seen,
// entirely: early queries and early keys if j < r, late queries and late keys if j > r. So each
// step is two products of a chunk by a chunk without a mask, on all ranks, and the schedule is
// static. Segments, if there are any, hide keys of any block.
//
//===----------------------------------------------------------------------===//

#include "ContextBlocks.h"

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Concat.h"

#include <limits>

using namespace mlir;

namespace zero::ops {

namespace {
class ByRanks final : public ContextBlocks {
public:
  using ContextBlocks::ContextBlocks;

  SmallVector<Value> forward(Value query) override;
  SmallVector<Value> backward(const Rows &all) override;

private:
  /// Whether the keys of `step` are those of a rank with a lower number.
  Value isBehind(int64_t step) { return isAtLeast(step); }
  Keys ofStep(const Keys &all, int64_t step);
  Rows either(Value condition, const std::array<Rows, 2> &rows);
  Rows unless(Value condition, Rows rows);
  SmallVector<Value> causalGradients(const std::array<Rows, 2> &rows, const Keys &keys,
                                     int64_t step);
  Value sumOfOwn(ArrayRef<Value> ofSteps, Value more, Value like);
};
} // namespace

/// Those of the rank `step` before this one.
Keys ByRanks::ofStep(const Keys &all, int64_t step) {
  Value before =
      builder.add(rank, builder.where(isBehind(step), number(-step), number(ranks.count - step)));
  return {builder.gather(all.key, before, 0), builder.gather(all.value, before, 0),
          tokensOf(kMask, before), tokensOf(kKeySegments, before)};
}

/// `rows`, or, if `condition`, rows that have seen no key.
Rows ByRanks::unless(Value condition, Rows rows) {
  Value nothing = builder.scalar(-std::numeric_limits<double>::infinity(), rows.lse.getType());
  rows.lse = builder.where(condition, nothing, rows.lse);
  return rows;
}

/// The early rows if `condition`, else the late ones.
Rows ByRanks::either(Value condition, const std::array<Rows, 2> &rows) {
  Rows made;
  for (Value Rows::*of : {&Rows::query, &Rows::segments, &Rows::result, &Rows::lse, &Rows::slope})
    if (rows[0].*of)
      made.*of = builder.where(condition, rows[0].*of, rows[1].*of);
  return made;
}

SmallVector<Value> ByRanks::forward(Value query) {
  const Rows all{query, querySegments(), {}, {}, {}};
  const Rows first = attend(all, own, {isCausal});
  const Keys gathered = gather();
  if (!isCausal) {
    Seen seen = begin(first);
    for (int64_t step = 1; step < ranks.count; ++step)
      seen = add(seen, attend(all, ofStep(gathered, step), {}));
    return end(seen);
  }
  const auto queries = halves(all), results = halves({{}, {}, first.result, first.lse, {}});
  std::array<Seen, 2> seen{begin(results[0]), begin(results[1])};
  auto &[early, late] = seen;
  for (int64_t step = 1; step < ranks.count; ++step) {
    const auto keys = halves(ofStep(gathered, step));
    late = add(late, attend(queries[1], keys[0], {}));
    Value behind = isBehind(step);
    const Rows rows = attend(either(behind, queries), select(behind, keys[0], keys[1]), {});
    early = add(early, unless(builder.unary(op::Not, behind), rows));
    late = add(late, unless(behind, rows));
  }
  addPrefix(all, gathered, seen);
  return end(seen);
}

/// As `gradients`, for the keys of `step` and the early and late rows of queries.
SmallVector<Value> ByRanks::causalGradients(const std::array<Rows, 2> &rows, const Keys &keys,
                                            int64_t step) {
  const auto chunks = halves(keys);
  Value behind = isBehind(step);
  SmallVector<Value> first = gradients(rows[1], chunks[0], {});
  SmallVector<Value> second =
      gradients(either(behind, rows), select(behind, chunks[0], chunks[1]), {});
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

/// The sum over ranks of the gradients that each has for the keys of this rank. `ofSteps`: by step;
/// `more`: of the keys of all ranks, or null.
Value ByRanks::sumOfOwn(ArrayRef<Value> ofSteps, Value more, Value like) {
  SmallVector<int64_t> shape(tensorType(like).getShape()), numbers;
  shape.insert(shape.begin(), 1);
  SmallVector<Value> parts;
  for (auto [step, part] : llvm::enumerate(ofSteps)) {
    parts.push_back(builder.reshape(part, shape));
    numbers.push_back(-int64_t(step));
  }
  // Rank j is in step r - j mod n.
  Value steps = builder.add(builder.indices(numbers), rank);
  Value isAhead = builder.binary(op::Less, steps, number(0));
  Value turned = builder.add(steps, number(ranks.count));
  return sumOverRanks(
      builder.gather(concatNode(builder, parts, 0), builder.where(isAhead, turned, steps), 0), more,
      like);
}

SmallVector<Value> ByRanks::backward(const Rows &given) {
  Rows all = given;
  all.segments = querySegments();
  const Keys gathered = gather();
  SmallVector<Value> sums = gradients(all, own, {isCausal}), keys{sums[1]}, values{sums[2]};
  const auto rows = isCausal ? halves(all) : std::array<Rows, 2>();
  for (int64_t step = 1; step < ranks.count; ++step) {
    const Keys other = ofStep(gathered, step);
    SmallVector<Value> made =
        isCausal ? causalGradients(rows, other, step) : gradients(all, other, {});
    sums[0] = builder.add(sums[0], made[0]);
    keys.push_back(made[1]);
    values.push_back(made[2]);
  }
  const PrefixGradients more = prefixGradients(all, gathered);
  if (prefix != 0) {
    sums[0] = builder.add(sums[0], more.query);
    keys[0] = builder.add(keys[0], more.ownKey);
    values[0] = builder.add(values[0], more.ownValue);
  }
  return {builder.cast(sums[0], tensorType(all.query).getElementType()),
          sumOfOwn(keys, more.keys, own.key), sumOfOwn(values, more.values, own.value)};
}

std::unique_ptr<ContextBlocks> orderByRanks(onnx::NodeOp node, NodeBuilder &builder,
                                            const Keys &own) {
  return std::make_unique<ByRanks>(node, builder, own);
}

} // namespace zero::ops
