//===- AttentionMasks.h - masks and biases of attention ---------*- C++ -*-===//
//
// A mask is taken apart into what the composite can say without a tensor of
// queries by keys: comparisons of positions and of segments, and keys that a sample
// does not have. zero::MaskedSoftmax says what the parts mean.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_ATTENTIONMASKS_H
#define LIB_TRANSFORMS_RECOGNISE_ATTENTIONMASKS_H

#include "ConstantValues.h"
#include "zero/Ops/NodeBuilder.h"

#include <map>

namespace zero {

/// The keys that are shown to a query by their positions alone.
struct KeyBounds {
  std::optional<int64_t> offset; ///< key <= query + offset, or key < prefix
  int64_t prefix = 0;
  std::optional<int64_t> lowest; ///< key >= query + lowest

  bool isEmpty() const { return !offset && !lowest; }
  /// Narrows these to what `other` shows, too. False, and nothing done, if no bounds say that.
  bool intersect(const KeyBounds &other);
};

/// The contents of a mask of queries by keys.
struct MaskPattern {
  enum Kind { Other, Everything, Positions };
  Kind kind = Other;
  KeyBounds bounds;             ///< of positions
  std::optional<double> hidden; ///< the number in place of the one that shows
};

/// Constant values, and the contents of masks among them. All layers of a model share a mask, which
/// is analyzed only once.
class MaskValues : public ConstantValues {
public:
  using ConstantValues::ConstantValues;

  /// The pattern of `mask` for so many queries and keys, of which elements `shown` show.
  MaskPattern findPattern(mlir::Value mask, double shown, int64_t queries, int64_t keys);

private:
  MaskPattern readPattern(mlir::Value mask, double shown, bool hasPositions);

  std::map<std::tuple<const void *, double, bool>, MaskPattern> patterns;
};

/// The masks of one attention.
class AttentionMasks {
public:
  /// `scores`: [batch, heads, queries, keys].
  AttentionMasks(MaskValues &values, mlir::RankedTensorType scores)
      : values(values), scores(scores) {}

  /// Takes up a number that is added to each score.
  void add(mlir::Value bias) { addTerm(bias, 0); }
  /// Takes up a boolean that shows keys, or with `negated` hides them: hidden ones
  /// have `hidden` added. False, and nothing done, if other ones have another
  /// number.
  bool show(mlir::Value shown, bool negated, double hidden) {
    return show(shown, negated, hidden, kScoreDims);
  }
  /// Takes up `added`, which hides keys with the number `hidden`. False, and nothing done, if they
  /// cannot be said together with what was taken up before.
  bool bound(const KeyBounds &added, double hidden);

  bool isEmpty() const { return bounds.isEmpty() && !segments && shown.empty() && biases.empty(); }
  /// Whether nothing but positions and segments hides, and each query sees a key.
  bool showsAKeyPerRow() const;
  /// Whether the operands below can say all of it.
  bool isExpressible() const;

  /// The operands padding and mask, onnx.none where there is none, and the segments of queries and
  /// of keys, if there are any.
  llvm::SmallVector<mlir::Value> operands(NodeBuilder &builder) const;
  /// The attributes causal, offset, window, prefix and fill.
  llvm::SmallVector<mlir::NamedAttribute> attributes(NodeBuilder &builder) const;
  /// "causal, padding": for messages.
  std::string describe() const;

private:
  /// An operand that hides keys: a boolean that is true for visible keys, or for hidden ones.
  struct Shown {
    mlir::Value value;
    bool negated;
  };
  /// Numbers of queries and of keys that are compared: [batch or 1, positions] with unit
  /// dimensions.
  using Segments = std::array<mlir::Value, 2>;
  /// Which dimension of a mask, counted from the last one, is that of the batch, heads, queries and
  /// keys of the scores; -1: none.
  using Dims = std::array<int, 4>;
  static constexpr Dims kScoreDims = {3, 2, 1, 0};

  MaskPattern findPattern(mlir::Value mask, double shown);
  static std::optional<std::array<int64_t, 4>> shapeAsScores(mlir::Value mask, Dims dims);
  static std::optional<Dims> dimsBefore(onnx::NodeOp reshape, Dims dims);
  bool show(mlir::Value shown, bool negated, double hidden, Dims dims);
  bool takeSegments(mlir::Value mask, Dims dims);
  /// Takes up a mask that is computed in another shape, if adopt() can.
  bool takeReshaped(mlir::Value mask, bool negated, unsigned depth, Dims dims);
  /// Replaces what bounds and segments say by what they say in `taken`; false, and nothing done, if
  /// a part of that has to remain an operand.
  bool adopt(const AttentionMasks &taken);
  std::array<mlir::Value, 2> maskOperands(NodeBuilder &builder) const;
  void takeShown(mlir::Value mask, bool negated, unsigned depth, Dims dims);
  bool takeFound(const MaskPattern &found, double hidden);
  void addTerm(mlir::Value bias, unsigned depth);
  bool addHiding(mlir::Value bias, Dims dims = kScoreDims);
  bool isPadding(mlir::Value mask) const;

  MaskValues &values;
  mlir::RankedTensorType scores;
  KeyBounds bounds;
  std::optional<Segments> segments;
  /// The number that is added to hidden scores, if any are hidden.
  std::optional<double> fill;
  llvm::SmallVector<Shown> shown;
  llvm::SmallVector<mlir::Value> biases;
};

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_ATTENTIONMASKS_H
