//===- AttentionMasks.cpp - masks and biases of attention -----------------===//

#include "AttentionMasks.h"

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace zero::patterns;

namespace zero {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Sums are split at most this deep. A deeper sum remains one operand.
static constexpr unsigned kMaxDepth = 8;

/// `value` before it was stretched.
static Value unexpanded(Value value) {
  while (onnx::NodeOp expand = nodeOf(value, op::Expand))
    value = expand.getInputs()[0];
  return value;
}

//===----------------------------------------------------------------------===//
// Patterns of values
//===----------------------------------------------------------------------===//

/// How many elements at the front of `row` equal `shown`, if all behind them equal
/// one other number, which is left in `hidden`.
static std::optional<int64_t> shownPrefix(ArrayRef<double> row, double shown,
                                          std::optional<double> &hidden) {
  auto rest = row.drop_while([&](double element) { return element == shown; });
  if (!rest.empty() && !hidden)
    hidden = rest.front();
  if (!llvm::all_of(rest, [&](double element) { return element == *hidden; }))
    return std::nullopt;
  return int64_t(row.size() - rest.size());
}

MaskPattern MaskValues::findPattern(Value mask, double shown, int64_t queries, int64_t keys) {
  ArrayRef<int64_t> shape = tensorType(mask).getShape();
  const bool hasPositions =
      columnsOf(mask) == keys && (shape.size() > 1 ? shape[shape.size() - 2] : 1) == queries;
  auto [it, isNew] = patterns.try_emplace({mask.getAsOpaquePointer(), shown, hasPositions});
  if (isNew && isKnown(mask))
    it->second = readPattern(mask, shown, hasPositions);
  return it->second;
}

MaskPattern MaskValues::readPattern(Value mask, double shown, bool hasPositions) {
  MaskPattern found;
  ArrayRef<int64_t> shape = tensorType(mask).getShape();
  int64_t queries = shape.size() > 1 ? shape[shape.size() - 2] : 1;
  int64_t columns = columnsOf(mask), rows = rowsOf(mask);
  SmallVector<double, 0> row(columns);
  for (int64_t index = 0; index < rows; ++index) {
    readRow(mask, index, row);
    std::optional<int64_t> count = shownPrefix(row, shown, found.hidden);
    // A row of nothing says nothing of where the diagonal runs.
    if (!count || *count == 0)
      return {};
    int64_t query = index % queries;
    if (index == 0)
      found.offset = *count - 1;
    if (*count != std::min(query + found.offset + 1, columns))
      return {};
  }
  bool everything = !found.hidden;
  if (rows == 0 || (!everything && !hasPositions))
    return {};
  found.kind = everything ? MaskPattern::Everything : MaskPattern::Causal;
  return found;
}

MaskPattern AttentionMasks::findPattern(Value mask, double shownNumber) {
  return values.findPattern(mask, shownNumber, scores.getDimSize(2), scores.getDimSize(3));
}

bool AttentionMasks::isPadding(Value mask) const {
  ArrayRef<int64_t> shape = tensorType(mask).getShape();
  if (shape.empty() || shape.back() != scores.getDimSize(3))
    return false;
  ArrayRef<int64_t> leading = shape.drop_back();
  // The mask must not depend on heads or queries, but may depend on samples.
  return llvm::all_of(leading.take_back(2), [](int64_t dim) { return dim == 1; });
}

//===----------------------------------------------------------------------===//
// Taking masks apart
//===----------------------------------------------------------------------===//

void AttentionMasks::compare(int64_t limit, double hidden) {
  offset = offset ? std::min(*offset, limit) : limit;
  fill = hidden;
}

bool AttentionMasks::takeFound(const MaskPattern &found, double hidden) {
  if (found.kind == MaskPattern::Causal)
    compare(found.offset, hidden);
  return found.kind != MaskPattern::Other;
}

void AttentionMasks::takeShown(Value mask, bool negated, unsigned depth) {
  mask = unexpanded(mask);
  if (takeFound(findPattern(mask, negated ? 0 : 1), *fill))
    return;
  if (onnx::NodeOp inverse = nodeOf(mask, op::Not); inverse && depth < kMaxDepth)
    return takeShown(inverse.getInputs()[0], !negated, depth + 1);
  // Shown by both; or hidden by neither.
  onnx::NodeOp both = nodeOf(mask, negated ? op::Or : op::And);
  if (both && depth < kMaxDepth) {
    for (Value part : both.getInputs())
      takeShown(part, negated, depth + 1);
    return;
  }
  if (llvm::none_of(shown, [&](Shown s) { return s.value == mask && s.negated == negated; }))
    shown.push_back({mask, negated});
}

bool AttentionMasks::show(Value mask, bool negated, double hidden) {
  // Infinity does not change if it is added again, but a number does.
  if (fill && !(*fill == hidden && hidden == -kInfinity))
    return false;
  fill = hidden;
  takeShown(mask, negated, 0);
  if (!offset && shown.empty())
    fill.reset();
  return true;
}

/// Takes up a bias that is zero where a key is shown, and one number elsewhere.
bool AttentionMasks::addHiding(Value bias) {
  if (onnx::NodeOp choice = nodeOf(bias, op::Where)) {
    auto a = numberOf(unexpanded(choice.getInputs()[1]));
    auto b = numberOf(unexpanded(choice.getInputs()[2]));
    if (!a || !b || (*a != 0) == (*b != 0))
      return false;
    bool negated = *a != 0;
    return show(choice.getInputs()[0], negated, negated ? *a : *b);
  }
  MaskPattern found = findPattern(bias, 0);
  if (found.kind == MaskPattern::Everything)
    return true;
  if (fill || found.kind == MaskPattern::Other)
    return false;
  return takeFound(found, *found.hidden);
}

void AttentionMasks::addTerm(Value bias, unsigned depth) {
  bias = unexpanded(bias);
  // A term that all scores share does not change the softmax.
  if (std::optional<double> number = numberOf(bias); number && std::isfinite(*number))
    return;
  if (addHiding(bias))
    return;
  if (onnx::NodeOp sum = nodeOf(bias, op::Add); sum && depth < kMaxDepth) {
    for (Value part : sum.getInputs())
      addTerm(part, depth + 1);
    return;
  }
  biases.push_back(bias);
}

//===----------------------------------------------------------------------===//
// The operands of the composite
//===----------------------------------------------------------------------===//

bool AttentionMasks::showsAKeyPerRow() const {
  return shown.empty() && biases.empty() && offset.value_or(0) >= 0;
}

bool AttentionMasks::isExpressible() const {
  // A boolean of queries next to a number must become a number, and keys that several masks hide
  // would then get the fill more than once.
  bool hasMask = llvm::any_of(shown, [&](Shown s) { return !isPadding(s.value); });
  bool hasBias = llvm::any_of(biases, [&](Value bias) { return !isPadding(bias); });
  return !hasMask || !hasBias || *fill == -kInfinity;
}

std::array<Value, 2> AttentionMasks::operands(NodeBuilder &builder) const {
  // Booleans and numbers, each of keys and of queries by keys.
  Value keys, pairs, keyBias, pairBias;
  auto join = [&](Value &sum, onnx::Operator type, Value term) {
    sum = sum ? builder.binary(type, sum, term) : term;
  };
  for (Shown part : shown)
    join(isPadding(part.value) ? keys : pairs, op::And,
         part.negated ? builder.unary(op::Not, part.value) : part.value);
  for (Value bias : biases)
    join(isPadding(bias) ? keyBias : pairBias, op::Add, bias);
  if (keys && keyBias)
    join(pairBias, op::Add, std::exchange(keyBias, nullptr));
  if (pairs && pairBias) {
    Value zero = builder.scalar(0, scores.getElementType());
    join(pairBias, op::Add,
         builder.where(std::exchange(pairs, nullptr), zero, builder.scalar(*fill, zero.getType())));
  }
  Value padding = keys ? keys : keyBias;
  if (padding) {
    ArrayRef<int64_t> shape = tensorType(padding).getShape();
    padding = builder.reshape(padding, {shape.size() == 4 ? shape[0] : 1, shape.back()});
  }
  return {padding, pairs ? pairs : pairBias};
}

SmallVector<NamedAttribute> AttentionMasks::attributes(NodeBuilder &builder) const {
  return {builder.attr("causal", int64_t(offset.has_value())),
          builder.attr("offset", offset.value_or(0)),
          builder.attr("fill", fill.value_or(-kInfinity))};
}

std::string AttentionMasks::describe() const {
  SmallVector<StringRef> words;
  if (offset)
    words.push_back("causal");
  auto note = [&](Value value) {
    StringRef word = isPadding(value) ? "padding" : "a mask";
    if (!llvm::is_contained(words, word))
      words.push_back(word);
  };
  for (Shown part : shown)
    note(part.value);
  llvm::for_each(biases, note);
  return words.empty() ? "no mask" : llvm::join(words, ", ");
}

} // namespace zero
