//===- Evaluator.h - results of nodes on constants --------------*- C++ -*-===//
// The definition of an operator says how its results follow from known operands. What is evaluated,
// up to which size and how exactly, is decided by the phases that ask.
//===----------------------------------------------------------------------===//

#ifndef ZERO_EVALUATE_EVALUATOR_H
#define ZERO_EVALUATE_EVALUATOR_H

#include "zero/Evaluate/Values.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>

namespace zero::evaluate {

/// An attribute of a node, in the field of its kind.
struct Attribute {
  Dims ints; ///< also of a single integer
  std::string text;
  std::optional<Values> values;
};

/// A node to evaluate.
struct Node {
  std::function<std::optional<Attribute>(llvm::StringRef name)> attribute;
  llvm::SmallVector<const Values *> inputs; ///< null where the model leaves one out
  std::vector<Values> results;              ///< types and dimensions are known before

  const Values *input(unsigned index) const {
    return index < inputs.size() ? inputs[index] : nullptr;
  }
  int64_t getInt(llvm::StringRef name, int64_t fallback) const;
  std::optional<Dims> getInts(llvm::StringRef name) const;
};

/// An element of a result, and those at the same position of the operands, which are broadcast.
struct Element {
  int64_t setting;  ///< what the evaluator read from the attributes
  ElementType from; ///< of the first operand
  ElementType to;
  llvm::ArrayRef<int64_t> index; ///< the position in the result
  llvm::ArrayRef<int64_t> x;
  bool exact = true; ///< cleared where the result is rounded, does not fit its type or is undefined

  double asDouble(unsigned operand) const { return toDouble(from, x[operand]); }
  Wide asWide(unsigned operand) const { return toWide(from, x[operand]); }
  int64_t result(double value) { return fromDouble(to, value, exact); }
  int64_t result(Wide value) { return fromWide(to, value, exact); }
};

/// Added to the result of a division by zero: no type has it.
inline constexpr Wide kUndefined = Wide(1) << 100;

/// How the results of an operator follow from its operands: `same`, `element` or `whole`.
struct Evaluator {
  /// One result, which has the elements of the first operand in their order.
  bool same = false;
  /// One result, each element of which is a function of elements of the operands.
  int64_t (*element)(Element &) = nullptr;
  /// A number that `element` needs from the attributes, which are read once for all elements.
  int64_t (*setting)(const Node &) = nullptr;
  /// Fills the elements of the results. False if they do not follow exactly: an index is out of
  /// range, a sum does not fit its type.
  bool (*whole)(Node &) = nullptr;
  unsigned reads = ~0u;                ///< the first operands, whose elements count for `element`
  bool integers = true, floats = true; ///< what the first operand may have
  bool converts = false;               ///< to the type of the result, without changing the number
  bool readsShapes = false;            ///< the elements of operands do not count
  bool readsIndex = false;             ///< `element` does
  bool moves = false;                  ///< `whole` takes all elements from the first operand

  explicit operator bool() const { return same || element || whole; }
  /// Whether elements of the result follow from those of operands, one by one.
  bool isLocal() const { return same || element; }
  int64_t settingOf(const Node &node) const { return setting ? setting(node) : 0; }
  /// Whether equal elements of each operand make equal elements of the results.
  bool keepsSplats() const { return same || moves || (element && !readsIndex); }
  bool accepts(ElementType type) const { return type.isFloat() ? floats : integers; }
};

/// Fills the elements of the results. Clears `exact` if one is rounded, does not fit its type or is
/// undefined. False if they do not follow from the operands.
bool evaluate(const Evaluator &evaluator, Node &node, bool &exact);

} // namespace zero::evaluate

#endif // ZERO_EVALUATE_EVALUATOR_H
