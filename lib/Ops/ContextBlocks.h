//===- ContextBlocks.h - attention to keys of other ranks -------*- C++ -*-===//
//
// What the orders of ContextAttention.cpp have in common: blocks of queries and keys, sums over
// blocks of keys, and the exchange of keys and values.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_CONTEXTBLOCKS_H
#define LIB_OPS_CONTEXTBLOCKS_H

#include "AttentionCore.h"
#include "zero/Ops/AxisCollectives.h"

#include <array>
#include <memory>

namespace zero::ops {

/// Rows of queries and what belongs to them: their segments, or null, their results, and gradients
/// in backward.
struct Rows {
  mlir::Value query, segments, result, lse, slope;
};
struct Keys {
  mlir::Value key, value;
  mlir::Value mask, segments; ///< null, or [batch or 1, rows]
};
/// What rows have seen so far: the sum of results, weighted by exp(lse - top), and of weights.
struct Seen {
  mlir::Value result, top, weight;
};
/// The attributes of zero::MaskedSoftmax by which positions hide keys of a block.
struct Bounds {
  bool causal = false;
  int64_t offset = 0, window = 0;
};

/// Gradients for the keys of a prefix behind a query: of all rows of queries, of the rank's own
/// keys and values, and of those of all ranks, which are the first dimension; null without any.
struct PrefixGradients {
  mlir::Value query, ownKey, ownValue, keys, values;
};

/// Some heads of a zero::ContextAttention under expansion. An order says to which blocks of keys
/// the queries attend.
class ContextBlocks {
public:
  static constexpr int64_t kRows = 2, kTokens = 1; ///< dimensions of heads; of masks and segments
  static constexpr unsigned kMask = 3, kQuerySegments = 5, kKeySegments = 6; ///< operands

  /// `own`: keys and values of the rank.
  ContextBlocks(onnx::NodeOp node, NodeBuilder &builder, const Keys &own);
  virtual ~ContextBlocks() = default;

  /// The sum of weighted results, the largest logarithm and that of the sum of exp.
  virtual llvm::SmallVector<mlir::Value> forward(mlir::Value query) = 0;
  /// The gradients of queries, keys and values.
  virtual llvm::SmallVector<mlir::Value> backward(const Rows &all) = 0;

protected:
  /// Keys and values of all ranks, which are the first dimension.
  Keys gather();
  /// The rank's tokens of operand `index` of the node, which all ranks have of all tokens, for the
  /// rank with `coordinate`; null without that operand.
  mlir::Value tokensOf(unsigned index, mlir::Value coordinate);
  /// Segments of the rank's queries.
  mlir::Value querySegments();
  /// Whether the number of the rank is at least `least`.
  mlir::Value isAtLeast(int64_t least);
  mlir::Value number(int64_t value) { return builder.scalar(double(value), rank.getType()); }
  mlir::Value wide(mlir::Value value);

  /// The rows of the early chunk and of the late one.
  std::array<mlir::Value, 2> halves(mlir::Value value, int64_t dim);
  std::array<Keys, 2> halves(const Keys &keys);
  std::array<Rows, 2> halves(const Rows &rows);
  Keys select(mlir::Value condition, const Keys &a, const Keys &b);
  /// The mask and the segments of the `tokens` keys of chunk `chunk`, an integer; no keys.
  Keys heldOf(mlir::Value chunk, int64_t tokens);

  /// Results of `rows` that see `keys` alone.
  Rows attend(const Rows &rows, const Keys &keys, const Bounds &bounds);
  Seen begin(const Rows &rows);
  Seen add(const Seen &seen, const Rows &rows);
  /// What `forward` returns of an early and a late chunk, or of all rows.
  llvm::SmallVector<mlir::Value> end(llvm::ArrayRef<Seen> chunks);
  /// The gradients of queries, keys and values for `rows` that see `keys`.
  llvm::SmallVector<mlir::Value> gradients(const Rows &rows, const Keys &keys,
                                           const Bounds &bounds);
  /// The part of this rank of the sum over ranks of `ofRanks` and `more`, which may be null; their
  /// first dimension is the rank with the part.
  mlir::Value sumOverRanks(mlir::Value ofRanks, mlir::Value more, mlir::Value like);

  /// Adds the keys of the prefix behind the queries `all` to what early and late ones have seen.
  void addPrefix(const Rows &all, const Keys &gathered, std::array<Seen, 2> &seen);
  PrefixGradients prefixGradients(const Rows &all, const Keys &gathered);

  onnx::NodeOp node;
  NodeBuilder &builder;
  AxisRanks ranks;
  bool isCausal;
  int64_t prefix; ///< keys that all queries see, with `isCausal`
  mlir::Value rank;
  Keys own; ///< of the rank

private:
  /// Keys of the prefix with the queries that see them. `onlyEarly`: of the early chunk.
  struct PrefixBlock {
    Rows rows;
    Keys keys;
    Bounds bounds;
    bool onlyEarly;
  };

  int64_t prefixChunks() const;
  mlir::Value hideUnless(mlir::Value isShown, mlir::Value segments, int64_t rows, int64_t hidden);
  mlir::Value isInPrefix(mlir::Value chunk);
  PrefixBlock ownPrefix(const Rows &all);
  PrefixBlock prefixBlock(const Rows &all, const Keys &gathered, int64_t chunk);
  llvm::SmallVector<PrefixBlock> prefixBlocks(const Rows &all, const Keys &gathered);
  mlir::Value byRank(llvm::ArrayRef<mlir::Value> ofChunks);

  mlir::Value finite(mlir::Value lse);
  llvm::SmallVector<mlir::NamedAttribute> attributes(const Bounds &bounds);

  bool canHide; ///< all keys of a block from a row
};

/// Without a sliding window: rank by rank.
std::unique_ptr<ContextBlocks> orderByRanks(onnx::NodeOp node, NodeBuilder &builder,
                                            const Keys &own);
/// With a sliding window: chunk by chunk, as far as the window reaches.
std::unique_ptr<ContextBlocks> orderByChunks(onnx::NodeOp node, NodeBuilder &builder,
                                             const Keys &own);

} // namespace zero::ops

#endif // LIB_OPS_CONTEXTBLOCKS_H
