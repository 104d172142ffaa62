//===- AttentionMasks.cpp - masks and biases of attention -----------------===//

#include "AttentionMasks.h"

#include "Patterns.h"
#include "dialects/Onnx/Operators.h"
#include "zero/Ops/Attention.h"

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

/// The node that gives the elements of another value, in the same order, the shape of `value`.
static onnx::NodeOp viewOf(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  const bool isView = node && node.isAnyOf({op::Reshape, op::Squeeze, op::Unsqueeze});
  return isView ? node : onnx::NodeOp();
}

/// The value whose elements `value` has in the same order.
static Value unshaped(Value value) {
  while (onnx::NodeOp view = viewOf(value))
    value = view.getInputs()[0];
  return value;
}

//===----------------------------------------------------------------------===//
// Patterns of values
//===----------------------------------------------------------------------===//

namespace {
/// Keys [begin, end).
struct Interval {
  int64_t begin, end;
  bool operator==(const Interval &other) const = default;
};
} // namespace

/// The elements of `row` that equal `shown`, if they are neighbours and all others equal one other
/// number, which is left in `hidden`.
static std::optional<Interval> shownInterval(ArrayRef<double> row, double shown,
                                             std::optional<double> &hidden) {
  auto isShown = [&](double element) { return element == shown; };
  ArrayRef<double> found = row.drop_until(isShown).take_while(isShown);
  // A row of nothing says nothing of where the diagonal runs.
  if (found.empty())
    return std::nullopt;
  const int64_t begin = found.begin() - row.begin(), end = found.end() - row.begin();
  for (ArrayRef<double> rest : {row.take_front(begin), row.drop_front(end)}) {
    if (!rest.empty() && !hidden)
      hidden = rest.front();
    if (!llvm::all_of(rest, [&](double element) { return element == *hidden; }))
      return std::nullopt;
  }
  return Interval{begin, end};
}

/// The bounds that show `rows`, one for each query, of `keys` keys; none where no bounds do.
static std::optional<KeyBounds> boundsOf(ArrayRef<Interval> rows, int64_t keys) {
  KeyBounds bounds;
  if (llvm::any_of(rows, [&](const Interval &row) { return row.end < keys; })) {
    // Behind the rows that a prefix makes longer the end moves from row to row.
    size_t first = 1;
    while (first < rows.size() && rows[first].end == rows[0].end)
      ++first;
    const size_t row = first < rows.size() ? first : 0;
    bounds.offset = rows[row].end - 1 - int64_t(row);
    bounds.prefix = rows[0].end > *bounds.offset + 1 ? rows[0].end : 0;
  }
  auto late = llvm::find_if(rows, [](const Interval &row) { return row.begin > 0; });
  if (late != rows.end())
    bounds.lowest = late->begin - (late - rows.begin());
  for (auto [index, row] : llvm::enumerate(rows)) {
    const auto query = int64_t(index);
    const int64_t end = bounds.offset ? std::max(query + *bounds.offset + 1, bounds.prefix) : keys;
    const int64_t begin = bounds.lowest ? std::max<int64_t>(query + *bounds.lowest, 0) : 0;
    if (row != Interval{begin, std::min(end, keys)})
      return std::nullopt;
  }
  return bounds;
}

bool KeyBounds::intersect(const KeyBounds &other) {
  const bool isOther =
      offset && other.offset && (*offset != *other.offset || prefix != other.prefix);
  if (isOther && (prefix || other.prefix))
    return false;
  if (other.offset) {
    offset = offset ? std::min(*offset, *other.offset) : *other.offset;
    prefix = other.prefix;
  }
  if (other.lowest)
    lowest = lowest ? std::max(*lowest, *other.lowest) : *other.lowest;
  return true;
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
  SmallVector<Interval> intervals;
  for (int64_t index = 0; index < rows; ++index) {
    readRow(mask, index, row);
    std::optional<Interval> interval = shownInterval(row, shown, found.hidden);
    if (!interval || (index >= queries && *interval != intervals[index % queries]))
      return {};
    if (index < queries)
      intervals.push_back(*interval);
  }
  bool everything = !found.hidden;
  if (rows == 0 || (!everything && !hasPositions))
    return {};
  std::optional<KeyBounds> bounds = boundsOf(intervals, columns);
  if (!bounds)
    return {};
  found.bounds = *bounds;
  found.kind = everything ? MaskPattern::Everything : MaskPattern::Positions;
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

bool AttentionMasks::bound(const KeyBounds &added, double hidden) {
  KeyBounds both = bounds;
  if (!both.intersect(added))
    return false;
  // Nothing would be shown to most queries.
  if (both.offset && both.lowest && *both.offset < *both.lowest)
    return false;
  bounds = both;
  fill = hidden;
  return true;
}

bool AttentionMasks::takeFound(const MaskPattern &found, double hidden) {
  if (found.kind == MaskPattern::Positions)
    return bound(found.bounds, hidden);
  return found.kind == MaskPattern::Everything;
}

/// The shape of `mask` as one of scores, to which it is broadcast; none if it has other dimensions.
std::optional<std::array<int64_t, 4>> AttentionMasks::shapeAsScores(Value mask, Dims dims) {
  ArrayRef<int64_t> shape = tensorType(mask).getShape();
  std::array<int64_t, 4> found = {1, 1, 1, 1};
  for (auto [index, size] : llvm::enumerate(llvm::reverse(shape))) {
    const auto *dim = llvm::find(dims, int(index));
    if (dim != dims.end())
      found[size_t(dim - dims.begin())] = size;
    else if (size != 1)
      return std::nullopt;
  }
  return found;
}

/// The dimensions of what `reshape`, a view, reads, if those of its result are `dims`, and it adds
/// or drops dimensions of size 1 alone.
std::optional<AttentionMasks::Dims> AttentionMasks::dimsBefore(onnx::NodeOp reshape, Dims dims) {
  auto after = shapeAsScores(reshape.getResult(0), dims);
  if (!after)
    return std::nullopt;
  Dims before = {-1, -1, -1, -1};
  int at = 3;
  auto skipOnes = [&] {
    while (at >= 0 && (*after)[size_t(at)] == 1)
      --at;
  };
  skipOnes();
  for (auto [index, size] : llvm::enumerate(llvm::reverse(reshape.inputType(0).getShape()))) {
    if (size == 1)
      continue;
    if (at < 0 || (*after)[size_t(at)] != size)
      return std::nullopt;
    before[size_t(at--)] = int(index);
    skipOnes();
  }
  return at < 0 ? std::optional(before) : std::nullopt;
}

/// Takes up integers of queries that are compared with integers of keys.
bool AttentionMasks::takeSegments(Value mask, Dims dims) {
  onnx::NodeOp equal = nodeOf(mask, op::Equal);
  if (!equal || segments)
    return false;
  Segments found;
  for (Value side : equal.getInputs()) {
    side = unexpanded(side);
    auto shape = shapeAsScores(side, dims);
    if (!shape || !tensorType(side).getElementType().isInteger())
      return false;
    auto [batch, heads, queries, keys] = *shape;
    const bool isOfQueries = queries == scores.getDimSize(2) && keys == 1;
    const bool isOfKeys = queries == 1 && keys == scores.getDimSize(3);
    const bool isOfBatches = batch == 1 || batch == scores.getDimSize(0);
    if (heads != 1 || !isOfBatches || isOfQueries == isOfKeys)
      return false;
    found[isOfKeys] = side;
  }
  if (!found[0] || !found[1])
    return false;
  segments = found;
  return true;
}

bool AttentionMasks::adopt(const AttentionMasks &taken) {
  if (taken.shown.size() != shown.size())
    return false;
  bounds = taken.bounds;
  segments = taken.segments;
  fill = taken.fill;
  return true;
}

bool AttentionMasks::takeReshaped(Value mask, bool negated, unsigned depth, Dims dims) {
  onnx::NodeOp reshape = viewOf(mask);
  auto before = reshape ? dimsBefore(reshape, dims) : std::nullopt;
  if (!before)
    return false;
  AttentionMasks taken = *this;
  taken.takeShown(reshape.getInputs()[0], negated, depth + 1, *before);
  return adopt(taken);
}

/// The boolean that `test` compares with 0 as a number; `isInverse`: whether it is true for false.
static Value testedBoolean(Value test, bool &isInverse) {
  onnx::NodeOp node = test.getDefiningOp<onnx::NodeOp>();
  if (!node || !node.isAnyOf({op::Equal, op::Greater}) || numberOf(node.getInputs()[1]) != 0)
    return {};
  onnx::NodeOp cast = nodeOf(node.getInputs()[0], op::Cast);
  isInverse = node.is(op::Equal);
  return cast && cast.inputType(0).getElementType().isInteger(1) ? cast.getInputs()[0] : Value();
}

void AttentionMasks::takeShown(Value mask, bool negated, unsigned depth, Dims dims) {
  mask = unexpanded(mask);
  const bool endsInScores = dims[2] == 1 && dims[3] == 0;
  if ((endsInScores && takeFound(findPattern(mask, negated ? 0 : 1), *fill)) ||
      (!negated && takeSegments(mask, dims)) ||
      (depth < kMaxDepth && takeReshaped(mask, negated, depth, dims)))
    return;
  bool isInverse = false;
  if (Value boolean = testedBoolean(mask, isInverse); boolean && depth < kMaxDepth)
    return takeShown(boolean, negated != isInverse, depth + 1, dims);
  if (onnx::NodeOp inverse = nodeOf(mask, op::Not); inverse && depth < kMaxDepth)
    return takeShown(inverse.getInputs()[0], !negated, depth + 1, dims);
  // Shown by both; or hidden by neither.
  onnx::NodeOp both = nodeOf(mask, negated ? op::Or : op::And);
  if (both && depth < kMaxDepth) {
    for (Value part : both.getInputs())
      takeShown(part, negated, depth + 1, dims);
    return;
  }
  if (llvm::none_of(shown, [&](Shown s) { return s.value == mask && s.negated == negated; }))
    shown.push_back({mask, negated});
}

bool AttentionMasks::show(Value mask, bool negated, double hidden, Dims dims) {
  // Infinity does not change if it is added again, but a number does.
  if (fill && !(*fill == hidden && hidden == -kInfinity))
    return false;
  fill = hidden;
  takeShown(mask, negated, 0, dims);
  if (bounds.isEmpty() && !segments && shown.empty())
    fill.reset();
  return true;
}

/// Takes up a bias that is zero where a key is shown, and one number elsewhere.
bool AttentionMasks::addHiding(Value bias, Dims dims) {
  onnx::NodeOp reshape = viewOf(bias);
  if (auto before = reshape ? dimsBefore(reshape, dims) : std::nullopt) {
    AttentionMasks taken = *this;
    if (taken.addHiding(reshape.getInputs()[0], *before) && adopt(taken))
      return true;
  }
  if (onnx::NodeOp choice = nodeOf(bias, op::Where)) {
    auto read = [&](Value side) {
      auto number = numberOf(unexpanded(side));
      const bool isZero = !number && findPattern(side, 0).kind == MaskPattern::Everything;
      return isZero ? std::optional(0.0) : number; // zeros may be a tensor of the model's
    };
    auto a = read(choice.getInputs()[1]), b = read(choice.getInputs()[2]);
    if (!a || !b || (*a != 0) == (*b != 0))
      return false;
    bool negated = *a != 0;
    return show(choice.getInputs()[0], negated, negated ? *a : *b, dims);
  }
  if (dims[2] != 1 || dims[3] != 0)
    return false;
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
  if (!shown.empty() || !biases.empty() || bounds.offset.value_or(0) < 0)
    return false;
  const int64_t queries = scores.getDimSize(2), keys = scores.getDimSize(3);
  if (!segments)
    return !bounds.lowest || queries - 1 + *bounds.lowest < keys;
  // A query sees itself where both are the same positions.
  return queries == keys && bounds.lowest.value_or(0) <= 0 &&
         unshaped((*segments)[0]) == unshaped((*segments)[1]);
}

bool AttentionMasks::isExpressible() const {
  // A boolean of queries next to a number must become a number, and keys that several masks hide
  // would then get the fill more than once.
  bool hasMask = llvm::any_of(shown, [&](Shown s) { return !isPadding(s.value); });
  bool hasBias = llvm::any_of(biases, [&](Value bias) { return !isPadding(bias); });
  return !hasMask || !hasBias || *fill == -kInfinity;
}

/// `numbers` of `positions` as i64 of [batch or 1, positions].
static Value asPositions(NodeBuilder &builder, Value numbers, int64_t positions) {
  const int64_t batch = tensorType(numbers).getNumElements() / positions;
  numbers = builder.reshape(numbers, {batch, positions});
  return builder.cast(numbers, builder.getBuilder().getI64Type());
}

SmallVector<Value> AttentionMasks::operands(NodeBuilder &builder) const {
  SmallVector<Value> all;
  for (Value mask : maskOperands(builder))
    all.push_back(mask ? mask : builder.none());
  if (segments)
    for (auto [dim, numbers] : llvm::enumerate(*segments))
      all.push_back(asPositions(builder, numbers, scores.getDimSize(2 + int64_t(dim))));
  return all;
}

std::array<Value, 2> AttentionMasks::maskOperands(NodeBuilder &builder) const {
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
  const int64_t offset = bounds.offset.value_or(std::max<int64_t>(bounds.lowest.value_or(0), 0));
  SmallVector<NamedAttribute> attrs{builder.attr("causal", int64_t(bounds.offset.has_value())),
                                    builder.attr("offset", offset),
                                    builder.attr("fill", fill.value_or(-kInfinity))};
  if (bounds.prefix)
    attrs.push_back(builder.attr(kPrefix, bounds.prefix));
  if (bounds.lowest)
    attrs.push_back(builder.attr(kWindow, offset + 1 - *bounds.lowest));
  return attrs;
}

std::string AttentionMasks::describe() const {
  SmallVector<StringRef> words;
  if (bounds.offset)
    words.push_back("causal");
  if (bounds.prefix)
    words.push_back("prefix");
  if (bounds.lowest)
    words.push_back("window");
  if (segments)
    words.push_back("segments");
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
