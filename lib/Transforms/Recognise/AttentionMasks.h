//===- AttentionMasks.h - masks and biases of attention ---------*- C++ -*-===//
//
// A mask is taken apart into what the composite can say without a tensor of
// queries by keys: a comparison of positions, and keys that a sample does not
// have. zero::MaskedSoftmax says what the parts mean.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_ATTENTIONMASKS_H
#define LIB_TRANSFORMS_RECOGNISE_ATTENTIONMASKS_H

#include "ConstantValues.h"
#include "zero/Ops/NodeBuilder.h"

#include <map>

namespace zero {

/// The contents of a mask of queries by keys.
struct MaskPattern {
  enum Kind { Other, Everything, Causal };
  Kind kind = Other;
  int64_t offset = 0;           ///< causal: key <= query + offset is shown
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
  bool show(mlir::Value shown, bool negated, double hidden);
  /// Takes up a comparison of positions: key <= query + offset.
  void compare(int64_t offset, double hidden);

  bool isEmpty() const { return !offset && shown.empty() && biases.empty(); }
  /// Whether nothing but positions hides, and each query sees a key.
  bool showsAKeyPerRow() const;
  /// Whether the operands below can say all of it.
  bool isExpressible() const;

  /// The operands padding and mask, null where there is none.
  std::array<mlir::Value, 2> operands(NodeBuilder &builder) const;
  /// The attributes causal, offset and fill.
  llvm::SmallVector<mlir::NamedAttribute> attributes(NodeBuilder &builder) const;
  /// "causal, padding": for messages.
  std::string describe() const;

private:
  /// An operand that hides keys: a boolean that is true for visible keys, or for hidden ones.
  struct Shown {
    mlir::Value value;
    bool negated;
  };
  MaskPattern findPattern(mlir::Value mask, double shown);
  void takeShown(mlir::Value mask, bool negated, unsigned depth);
  bool takeFound(const MaskPattern &found, double hidden);
  void addTerm(mlir::Value bias, unsigned depth);
  bool addHiding(mlir::Value bias);
  bool isPadding(mlir::Value mask) const;

  MaskValues &values;
  mlir::RankedTensorType scores;
  std::optional<int64_t> offset;
  /// The number that is added to hidden scores, if any are hidden.
  std::optional<double> fill;
  llvm::SmallVector<Shown> shown;
  llvm::SmallVector<mlir::Value> biases;
};

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_ATTENTIONMASKS_H
