//===- ContextChunks.cpp - attention to one chunk of keys at a time -------===//
//
// With a sliding window. Each chunk of the rank's queries, r and 2n - 1 - r, attends to chunk d
// before it, for each d for which the window shows a pair; d = 0 is the rank's own, and is below 0
// for windows that show later keys. The distance of their tokens is the same on all ranks, so that
// the window is an attribute of each product. A chunk that is not there has other segments than the
// queries, and kernels skip what segments hide.
//
//===----------------------------------------------------------------------===//

#include "ContextBlocks.h"

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Concat.h"

#include <numeric>

using namespace mlir;

namespace zero::ops {

namespace {
/// A chunk of keys of the sequence.
struct Chunk {
  Value number, owner; ///< 0 if it is not there; the rank that has it
  Value isLate;        ///< of its owner; null: early
  Value isThere;       ///< null: on all ranks
};

class ByChunks final : public ContextBlocks {
public:
  ByChunks(onnx::NodeOp node, NodeBuilder &builder, const Keys &own);

  SmallVector<Value> forward(Value query) override;
  SmallVector<Value> backward(const Rows &all) override;

private:
  /// The last chunk of a sequence.
  int64_t last() const { return 2 * ranks.count - 1; }
  Value isFrom(Value a, Value b) { return builder.binary(op::GreaterOrEqual, a, b); }
  Value ofQueries(bool isLate) { return isLate ? builder.sub(number(last()), rank) : rank; }
  Chunk before(bool isLate, int64_t distance);
  Bounds boundsOf(int64_t distance) const;
  Keys keysOf(const Keys &all, const Chunk &chunk);
  std::pair<Rows, Keys> blockOf(const Rows &queries, const Keys &all, bool isLate,
                                int64_t distance);
  void addToOwn(std::array<SmallVector<Value>, 2> &parts, Value rows);
  Value ofChunks(ArrayRef<Value> byDistance, Value chunks, Value query);
  Value sumOfOwn(const std::array<SmallVector<Value>, 2> &parts, Value more, Value like);

  int64_t offset, window;
  int64_t tokens;            ///< of a chunk
  int64_t nearest, furthest; ///< distances of chunks of which a key is seen
};
} // namespace

ByChunks::ByChunks(onnx::NodeOp node, NodeBuilder &builder, const Keys &own)
    : ContextBlocks(node, builder, own), offset(node.getInt("offset", 0)),
      window(node.getInt(kWindow, 0)), tokens(tensorType(own.key).getDimSize(kRows) / 2),
      nearest(isCausal ? -((offset + tokens - 1) / tokens) : -last()),
      furthest((window - offset + tokens - 2) / tokens) {
  nearest = std::clamp<int64_t>(nearest, -last(), 0);
  furthest = std::clamp<int64_t>(furthest, 0, last());
}

/// The chunk `distance` before the rank's early or late one.
Chunk ByChunks::before(bool isLate, int64_t distance) {
  const int64_t most = (isLate ? last() : ranks.count - 1) - distance; // of all ranks
  const int64_t least = most - (ranks.count - 1);
  Chunk chunk;
  chunk.number = builder.sub(ofQueries(isLate), number(distance));
  if (least < 0 || most > last()) {
    Value bound = number(least < 0 ? 0 : last());
    chunk.isThere = least < 0 ? isFrom(chunk.number, bound) : isFrom(bound, chunk.number);
    chunk.number = builder.where(chunk.isThere, chunk.number, number(0));
  }
  chunk.owner = chunk.number;
  if (most >= ranks.count) {
    chunk.isLate = isFrom(chunk.number, number(ranks.count));
    chunk.owner =
        builder.where(chunk.isLate, builder.sub(number(last()), chunk.number), chunk.number);
  }
  return chunk;
}

/// Counted in their chunks, a query sees keys up to `upTo` behind it, less `window`.
Bounds ByChunks::boundsOf(int64_t distance) const {
  const int64_t upTo = offset + distance * tokens, before = window - upTo;
  if (isCausal && upTo < tokens - 1)
    return {true, upTo, window};
  if (before >= tokens)
    return {};
  return before > 0 ? Bounds{false, 0, before} : Bounds{false, 1 - before, 1};
}

Keys ByChunks::keysOf(const Keys &all, const Chunk &chunk) {
  auto exchanged = [&](Value value) {
    const auto parts = halves(builder.gather(value, chunk.owner, 0), kRows);
    return chunk.isLate ? builder.where(chunk.isLate, parts[1], parts[0]) : parts[0];
  };
  Keys keys{exchanged(all.key), exchanged(all.value), {}, {}};
  const Keys held = heldOf(chunk.number, tokens);
  keys.mask = held.mask;
  keys.segments = held.segments;
  return keys;
}

/// What `queries` of a chunk and the keys `distance` before it compute with. Keys of a chunk that
/// is not there have other segments than the queries.
std::pair<Rows, Keys> ByChunks::blockOf(const Rows &queries, const Keys &all, bool isLate,
                                        int64_t distance) {
  if (distance == 0)
    return {queries, halves(own)[isLate]};
  const Chunk chunk = before(isLate, distance);
  Rows rows = queries;
  Keys keys = keysOf(all, chunk);
  if (!chunk.isThere)
    return {rows, keys};
  auto type = RankedTensorType::get({1, tokens}, builder.getBuilder().getI64Type());
  auto orElse = [&](Value segments, int64_t missing) {
    return builder.where(chunk.isThere, segments ? segments : builder.splat(0, type),
                         builder.splat(double(missing), type));
  };
  rows.segments = orElse(rows.segments, 0);
  keys.segments = orElse(keys.segments, 1);
  return {rows, keys};
}

SmallVector<Value> ByChunks::forward(Value query) {
  const Rows all{query, querySegments(), {}, {}, {}};
  const auto queries = halves(all);
  const Keys gathered = gather();
  std::array<Seen, 2> chunks;
  for (bool isLate : {false, true}) {
    Seen &seen = chunks[isLate];
    for (int64_t distance = nearest; distance <= furthest; ++distance) {
      const auto [rows, keys] = blockOf(queries[isLate], gathered, isLate, distance);
      const Rows made = attend(rows, keys, boundsOf(distance));
      seen = distance == nearest ? begin(made) : add(seen, made);
    }
  }
  addPrefix(all, gathered, chunks);
  return end(chunks);
}

/// Of the parts `byDistance` from the chunk `query`, those of each of `chunks`; zeros of others.
Value ByChunks::ofChunks(ArrayRef<Value> byDistance, Value chunks, Value query) {
  SmallVector<Value> parts;
  SmallVector<int64_t> shape(tensorType(byDistance[0]).getShape());
  shape.insert(shape.begin(), 1);
  for (Value part : byDistance)
    parts.push_back(builder.reshape(part, shape));
  Value none = number(int64_t(parts.size()));
  parts.push_back(builder.splat(0, tensorType(parts[0])));
  Value index = builder.sub(builder.sub(query, chunks), number(nearest));
  Value isSeen =
      builder.binary(op::And, isFrom(index, number(0)), builder.binary(op::Less, index, none));
  return builder.gather(concatNode(builder, parts, 0), builder.where(isSeen, index, none), 0);
}

/// The sum over ranks of the gradients that each has for the keys of this rank. `parts`: of its
/// early and late queries, by distance; `more`: of the chunks of all ranks, or null.
Value ByChunks::sumOfOwn(const std::array<SmallVector<Value>, 2> &parts, Value more, Value like) {
  SmallVector<int64_t> early(ranks.count), late;
  std::iota(early.begin(), early.end(), 0);
  for (int64_t chunk : early)
    late.push_back(last() - chunk);
  SmallVector<Value> sums;
  for (const SmallVector<int64_t> &numbers : {early, late}) {
    Value chunks = builder.indices(numbers);
    sums.push_back(builder.add(ofChunks(parts[0], chunks, ofQueries(false)),
                               ofChunks(parts[1], chunks, ofQueries(true))));
  }
  return sumOverRanks(concatNode(builder, sums, kRows + 1), more, like);
}

/// Adds gradients of the rank's own rows to those of distance 0 in `parts`.
void ByChunks::addToOwn(std::array<SmallVector<Value>, 2> &parts, Value rows) {
  for (auto [part, chunk] : llvm::zip_equal(parts, halves(rows, kRows)))
    part[-nearest] = builder.add(part[-nearest], chunk);
}

SmallVector<Value> ByChunks::backward(const Rows &given) {
  Rows all = given;
  all.segments = querySegments();
  const auto queries = halves(all);
  const Keys gathered = gather();
  SmallVector<Value> sums;
  std::array<SmallVector<Value>, 2> ofKeys, ofValues;
  for (bool isLate : {false, true})
    for (int64_t distance = nearest; distance <= furthest; ++distance) {
      const auto [rows, keys] = blockOf(queries[isLate], gathered, isLate, distance);
      const SmallVector<Value> made = gradients(rows, keys, boundsOf(distance));
      if (distance == nearest)
        sums.push_back(made[0]);
      else
        sums.back() = builder.add(sums.back(), made[0]);
      ofKeys[isLate].push_back(made[1]);
      ofValues[isLate].push_back(made[2]);
    }
  Value query = concatNode(builder, sums, kRows);
  const PrefixGradients more = prefixGradients(all, gathered);
  if (prefix != 0) {
    query = builder.add(query, more.query);
    addToOwn(ofKeys, more.ownKey);
    addToOwn(ofValues, more.ownValue);
  }
  return {builder.cast(query, tensorType(all.query).getElementType()),
          sumOfOwn(ofKeys, more.keys, own.key), sumOfOwn(ofValues, more.values, own.value)};
}

std::unique_ptr<ContextBlocks> orderByChunks(onnx::NodeOp node, NodeBuilder &builder,
                                             const Keys &own) {
  return std::make_unique<ByChunks>(node, builder, own);
}

} // namespace zero::ops
