//===- ContextPrefix.cpp - attention to the keys of a prefix --------------===//
//
// With `causal`, all queries see the keys of a prefix. Those up to a query are in the blocks of
// each order; these are the ones behind it. A rank's own are one product: positions show the keys
// behind a query, and segments hide those behind the prefix. For each other chunk of the prefix
// there is a product on all ranks, as the schedule is static: segments hide it from queries that
// are not in front of it. Which rank has a chunk is known, so its gradients need no search.
//
//===----------------------------------------------------------------------===//

#include "ContextBlocks.h"

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Concat.h"

#include <numeric>

using namespace mlir;

namespace zero::ops {

// Segments of what is hidden: numbers that no model gives its documents. All segments here depend
// on the rank, so that none is a constant: library calls have no constants, and the kernel that
// would be compiled in their place divides by the sum of a block.
static constexpr int64_t kHiddenQuery = -(int64_t(1) << 40), kHiddenKey = 2 * kHiddenQuery;

/// A query sees the keys with a larger number.
static constexpr Bounds kBehind{false, 1, 1};

int64_t ContextBlocks::prefixChunks() const {
  const int64_t tokens = tensorType(own.key).getDimSize(kRows) / 2;
  return std::min((prefix + tokens - 1) / tokens, 2 * ranks.count);
}

/// `segments`, or those of one document; where `isShown` does not hold, `hidden`.
Value ContextBlocks::hideUnless(Value isShown, Value segments, int64_t rows, int64_t hidden) {
  auto type = RankedTensorType::get({1, rows}, builder.getBuilder().getI64Type());
  if (!segments)
    segments = builder.splat(0, type);
  return isShown ? builder.where(isShown, segments, builder.splat(double(hidden), type)) : segments;
}

/// Whether the keys of chunk `chunk`, an integer, are in the prefix.
Value ContextBlocks::isInPrefix(Value chunk) {
  const int64_t tokens = tensorType(own.key).getDimSize(kRows) / 2;
  SmallVector<int64_t> numbers(tokens);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value positions = builder.add(builder.indices(numbers), builder.mul(chunk, number(tokens)));
  return builder.reshape(builder.binary(op::Less, positions, number(prefix)), {1, tokens});
}

/// The rank's own keys, and queries of chunks in which the prefix has keys.
ContextBlocks::PrefixBlock ContextBlocks::ownPrefix(const Rows &all) {
  const auto queries = halves(all);
  const auto keys = halves(own);
  const int64_t chunks = prefixChunks(), tokens = tensorType(keys[0].key).getDimSize(kRows);
  const std::array<Value, 2> numbers{rank, builder.sub(number(2 * ranks.count - 1), rank)};
  SmallVector<Value> ofQueries, ofKeys;
  for (auto [chunk, query, key] : llvm::zip_equal(numbers, queries, keys)) {
    Value isThere = builder.binary(op::Less, chunk, number(chunks));
    ofQueries.push_back(hideUnless(isThere, query.segments, tokens, kHiddenQuery));
    ofKeys.push_back(hideUnless(isInPrefix(chunk), key.segments, tokens, kHiddenKey));
  }
  PrefixBlock block{all, own, kBehind, /*onlyEarly=*/false};
  block.rows.segments = concatNode(builder, ofQueries, kTokens);
  block.keys.segments = concatNode(builder, ofKeys, kTokens);
  return block;
}

/// The keys of `chunk`, which are hidden on the rank that has them: its own product has them.
/// Queries of chunks in front of it see them.
ContextBlocks::PrefixBlock ContextBlocks::prefixBlock(const Rows &all, const Keys &gathered,
                                                      int64_t chunk) {
  const bool isLate = chunk >= ranks.count;
  const int64_t owner = isLate ? 2 * ranks.count - 1 - chunk : chunk;
  const auto queries = halves(all);
  const int64_t tokens = tensorType(queries[0].query).getDimSize(kRows);
  auto ofChunk = [&](Value value) {
    return halves(builder.gather(value, number(owner), 0), kRows)[isLate];
  };
  Value isOfOther = builder.unary(op::Not, builder.binary(op::Equal, rank, number(owner)));
  Value isShown = builder.binary(op::And, isInPrefix(number(chunk)), isOfOther);
  const Keys held = heldOf(number(chunk), tokens);
  PrefixBlock block{isLate ? all : queries[0], {}, {}, /*onlyEarly=*/!isLate};
  block.keys = {ofChunk(gathered.key), ofChunk(gathered.value), held.mask,
                hideUnless(isShown, held.segments, tokens, kHiddenKey)};
  Value isInFront = isLate ? isAtLeast(owner + 1) : builder.unary(op::Not, isAtLeast(chunk));
  Value hidden = hideUnless(isInFront, queries[isLate].segments, tokens, kHiddenQuery);
  block.rows.segments = hidden;
  if (isLate) // all early queries are in front of it
    block.rows.segments =
        concatNode(builder, {hideUnless({}, queries[0].segments, tokens, 0), hidden}, kTokens);
  return block;
}

SmallVector<ContextBlocks::PrefixBlock> ContextBlocks::prefixBlocks(const Rows &all,
                                                                    const Keys &gathered) {
  SmallVector<PrefixBlock> blocks;
  if (prefix == 0)
    return blocks;
  blocks.push_back(ownPrefix(all));
  for (int64_t chunk = 1; chunk < prefixChunks(); ++chunk) // none is in front of chunk 0
    blocks.push_back(prefixBlock(all, gathered, chunk));
  return blocks;
}

void ContextBlocks::addPrefix(const Rows &all, const Keys &gathered, std::array<Seen, 2> &seen) {
  for (const PrefixBlock &block : prefixBlocks(all, gathered)) {
    const Rows made = attend(block.rows, block.keys, block.bounds);
    if (block.onlyEarly) {
      seen[0] = add(seen[0], made);
      continue;
    }
    const auto parts = halves(Rows{{}, {}, made.result, made.lse, {}});
    for (auto [chunk, part] : llvm::zip_equal(seen, parts))
      chunk = add(chunk, part);
  }
}

/// The gradients of all ranks' keys, of which `ofChunks` are those of the chunks from 1 on.
Value ContextBlocks::byRank(ArrayRef<Value> ofChunks) {
  if (ofChunks.empty())
    return {};
  Value none = builder.splat(0, tensorType(ofChunks.front()));
  auto ofChunk = [&](int64_t chunk) {
    const bool isThere = chunk >= 1 && chunk <= int64_t(ofChunks.size());
    return isThere ? ofChunks[chunk - 1] : none;
  };
  SmallVector<Value> all;
  for (int64_t owner = 0; owner < ranks.count; ++owner) {
    Value rows = concatNode(builder, {ofChunk(owner), ofChunk(2 * ranks.count - 1 - owner)}, kRows);
    SmallVector<int64_t> shape(tensorType(rows).getShape());
    shape.insert(shape.begin(), 1);
    all.push_back(builder.reshape(rows, shape));
  }
  return concatNode(builder, all, 0);
}

PrefixGradients ContextBlocks::prefixGradients(const Rows &all, const Keys &gathered) {
  PrefixGradients sums;
  SmallVector<Value> keys, values;
  for (auto [index, block] : llvm::enumerate(prefixBlocks(all, gathered))) {
    const SmallVector<Value> made = gradients(block.rows, block.keys, block.bounds);
    if (index == 0) {
      sums.query = made[0];
      sums.ownKey = made[1];
      sums.ownValue = made[2];
      continue;
    }
    Value ofRows = made[0];
    if (block.onlyEarly)
      ofRows = concatNode(builder, {ofRows, builder.splat(0, tensorType(ofRows))}, kRows);
    sums.query = builder.add(sums.query, ofRows);
    keys.push_back(made[1]);
    values.push_back(made[2]);
  }
  sums.keys = byRank(keys);
  sums.values = byRank(values);
  return sums;
}

} // namespace zero::ops
