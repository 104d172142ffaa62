//===- Sorts.cpp - sorting and the largest elements -----------------------===//

#include "Rules.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

/// The block argument that `value` is. JAX compares floats after it replaced -0 by 0 and each NaN
/// by the same one, by selections on comparisons of the argument alone.
static BlockArgument comparedArgument(Value value) {
  SmallVector<Value> tested;
  while (auto select = value.getDefiningOp<SelectOp>()) {
    auto compare = select.getPred().getDefiningOp<CompareOp>();
    if (!compare || !select.getOnTrue().getDefiningOp<ConstantOp>())
      return {};
    tested.push_back(compare.getLhs());
    if (!compare.getRhs().getDefiningOp<ConstantOp>())
      tested.push_back(compare.getRhs());
    value = select.getOnFalse();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return llvm::all_of(tested, [&](Value other) { return other == value; }) ? argument
                                                                           : BlockArgument();
}

namespace {
/// By which of its operands a sort orders.
struct Key {
  unsigned operand;
  bool descending;
};
} // namespace

/// The key if `value` compares both elements of one operand in `direction`, or by LT or GT if none
/// is given.
static std::optional<Key> keyOf(Value value, std::optional<ComparisonDirection> wanted = {}) {
  auto compare = value.getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  BlockArgument first = comparedArgument(compare.getLhs());
  BlockArgument second = comparedArgument(compare.getRhs());
  const ComparisonDirection direction = compare.getComparisonDirection();
  const bool isLess = direction == ComparisonDirection::LT;
  if (wanted ? direction != *wanted : !isLess && direction != ComparisonDirection::GT)
    return std::nullopt;
  if (!first || !second || first.getOwner() != second.getOwner() || first == second ||
      first.getArgNumber() / 2 != second.getArgNumber() / 2)
    return std::nullopt;
  const bool swapped = first.getArgNumber() % 2 != 0;
  return Key{first.getArgNumber() / 2, isLess == swapped};
}

/// Appends the keys of a lexicographic comparison, the first one first: by the first key, or the
/// first keys are equal, and by the others.
static bool collectKeys(Value value, SmallVectorImpl<Key> &keys) {
  while (true) {
    if (std::optional<Key> last = keyOf(value)) {
      keys.push_back(*last);
      return true;
    }
    Operation *either = value.getDefiningOp();
    if (!either || either->getName().getStringRef() != "stablehlo.or")
      return false;
    Operation *both = either->getOperand(1).getDefiningOp();
    std::optional<Key> first = keyOf(either->getOperand(0));
    if (!first || !both || both->getName().getStringRef() != "stablehlo.and")
      return false;
    auto tied = keyOf(both->getOperand(0), ComparisonDirection::EQ);
    if (!tied || tied->operand != first->operand)
      return false;
    keys.push_back(*first);
    value = both->getOperand(1);
  }
}

/// The keys by which the comparator of a sort orders; none if it is another one.
static SmallVector<Key> keysOf(SortOp op) {
  Region &region = op.getBody();
  if (!region.hasOneBlock() || region.front().empty() ||
      region.getNumArguments() != 2 * op.getInputs().size())
    return {};
  auto yield = dyn_cast<ReturnOp>(region.front().back());
  SmallVector<Key> keys;
  if (!yield || yield->getNumOperands() != 1 || !collectKeys(yield->getOperand(0), keys))
    return {};
  return keys;
}

/// Values and i64 indices of the first `count` elements along `axis`.
static std::pair<Value, Value> firstElements(Emitter &b, Value x, int64_t axis, int64_t count,
                                             bool largest) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] = count;
  auto type = tensorType(x).clone(shape);
  onnx::NodeOp node = b.create(
      op::TopK, {type, type.clone(b.getBuilder().getI64Type())}, {x, b.indices(count)},
      {b.attr("axis", axis), b.attr("largest", int64_t(largest)), b.attr("sorted", int64_t(1))});
  return {node.getResult(0), node.getResult(1)};
}

/// Orders `tensors` along `axis` by one of them.
static void sortBy(Emitter &b, MutableArrayRef<Value> tensors, int64_t axis, Key key) {
  Value by = tensors[key.operand];
  // Nodes order no booleans.
  if (isBool(elementOf(by)))
    by = b.cast(by, b.getBuilder().getI32Type());
  auto [values, indices] = firstElements(b, by, axis, shapeOf(by)[axis], key.descending);
  for (auto [number, tensor] : llvm::enumerate(tensors))
    tensor = number == key.operand && tensor == by ? values
                                                   : b.one(op::GatherElements, tensor.getType(),
                                                           {tensor, indices}, b.attr("axis", axis));
}

static LogicalResult sort(Operation *operation, Emitter &b, SmallVectorImpl<Value> &results) {
  auto op = cast<SortOp>(operation);
  ValueRange inputs = op.getInputs();
  if (inputs.empty() || op->getNumResults() != inputs.size())
    return b.refuse("expected an operand");
  const int64_t rank = shapeOf(inputs[0]).size();
  int64_t axis = op.getDimension();
  axis = axis < 0 ? axis + rank : axis;
  for (Value input : inputs)
    if (axis < 0 || axis >= rank || shapeOf(input) != shapeOf(inputs[0]))
      return b.refuse("expected operands of one shape, and a dimension of them");
  SmallVector<Key> keys = keysOf(op);
  if (keys.empty() || productOf(shapeOf(inputs[0])) == 0)
    return b.refuse("expected a comparator that compares operands by LT or GT");
  // Equal elements stay in order, so the last key is sorted by first.
  SmallVector<Value> sorted(inputs);
  for (Key key : llvm::reverse(keys))
    sortBy(b, sorted, axis, key);
  llvm::append_range(results, sorted);
  return success();
}

static LogicalResult topK(Operation *operation, Emitter &b, SmallVectorImpl<Value> &results) {
  auto op = cast<chlo::TopKOp>(operation);
  Value x = op.getOperand();
  const int64_t axis = int64_t(shapeOf(x).size()) - 1;
  if (axis < 0 || op.getK() < 1 || int64_t(op.getK()) > shapeOf(x)[axis] || isBool(elementOf(x)))
    return b.refuse("expected k of 1 to the size of the last dimension");
  auto [values, indices] = firstElements(b, x, axis, op.getK(), /*largest=*/true);
  results.push_back(values);
  results.push_back(b.cast(indices, elementOf(op.getIndices())));
  return success();
}

void addSortRules(RuleTable &table) {
  table["stablehlo.sort"] = sort;
  table["chlo.top_k"] = topK;
}

} // namespace zero::hlo
