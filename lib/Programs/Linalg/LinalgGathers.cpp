//===- LinalgGathers.cpp - reads at computed indices as nodes -------------===//
//
// The body of a loop reads an element of a tensor at indices. Those that are sums of loops and
// constants are views and slices, or gathers at constants; one that is data is a Gather or a
// GatherElements; several a GatherND of tuples.
//
// PyTorch checks its indices before it reads: the nodes do so themselves. They also accept negative
// indices, so that a check that an index is not negative becomes an attribute of the node.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/CallAttrs.h"
#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// `index` before it was converted to or from an index.
static Value withoutCasts(Value index) {
  while (Operation *op = index.getDefiningOp()) {
    bool keepsValue = isa<arith::IndexCastOp>(op) ||
                      (isa<arith::ExtSIOp>(op) && !op->getOperand(0).getType().isInteger(1));
    if (!keepsValue)
      break;
    index = op->getOperand(0);
  }
  return index;
}

static std::optional<int64_t> integerOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getSignificantBits() > 64)
    return std::nullopt;
  return number.getSExtValue();
}

/// The index x that `index` counts from the end of `extent` if it is negative: select(x < 0,
/// x + extent, x), or a null value.
static Value wrappedIndex(Value index, std::optional<int64_t> extent = std::nullopt) {
  auto choice = withoutCasts(index).getDefiningOp<arith::SelectOp>();
  auto test = choice ? choice.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  auto sum = choice ? choice.getTrueValue().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  if (!test || !sum || test.getPredicate() != arith::CmpIPredicate::slt)
    return {};
  Value from = choice.getFalseValue();
  std::optional<int64_t> bound = integerOf(test.getRhs()), added = integerOf(sum.getRhs());
  if (test.getLhs() != from || sum.getLhs() != from || bound != 0 || !added ||
      (extent && *added != *extent))
    return {};
  return from;
}

/// The expression of loops that a constant equals: its elements change by one amount along one
/// dimension.
AffineExpr LinalgNodes::linearConstant(Value aligned) {
  DenseIntElementsAttr elements;
  MLIRContext *context = nodes.getBuilder().getContext();
  if (!aligned || !matchPattern(aligned, m_Constant(&elements)) ||
      elements.getElementType().getIntOrFloatBitWidth() < 8)
    return {};
  if (elements.isSplat())
    return getAffineConstantExpr(elements.getSplatValue<APInt>().getSExtValue(), context);
  ArrayRef<int64_t> shape = tensorType(aligned).getShape();
  const auto *dim = llvm::find_if(shape, [](int64_t extent) { return extent != 1; });
  if (dim == shape.end() || *dim != elements.getNumElements())
    return {};
  SmallVector<int64_t> values;
  for (APInt value : elements)
    values.push_back(value.getSExtValue());
  int64_t step = values[1] - values[0];
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] != step)
      return {};
  int64_t loop = int64_t(extents.size()) - (shape.end() - dim);
  return getAffineDimExpr(loop, context) * step + values[0];
}

/// `index` as an expression of the loops; null if it is data.
AffineExpr LinalgNodes::affineOf(Value index) {
  MLIRContext *context = nodes.getBuilder().getContext();
  index = withoutCasts(index);
  if (std::optional<int64_t> number = integerOf(index))
    return getAffineConstantExpr(*number, context);
  if (auto position = index.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(position.getDim(), context);
  if (auto constant = linearConstant(known.lookup(index)))
    return constant;
  // From constants, which are not negative where the read is in bounds.
  if (Value inner = wrappedIndex(index)) {
    AffineExpr expr = affineOf(inner);
    auto dim = dyn_cast_if_present<AffineDimExpr>(expr);
    auto number = dyn_cast_if_present<AffineConstantExpr>(expr);
    return dim || (number && number.getValue() >= 0) ? expr : AffineExpr();
  }
  Operation *op = index.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {};
  AffineExpr a = affineOf(op->getOperand(0)), b = affineOf(op->getOperand(1));
  if (!a || !b)
    return {};
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  return a.isSymbolicOrConstant() || b.isSymbolicOrConstant() ? a * b : AffineExpr();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// The shape of `aligned` with a dimension for each loop.
static SmallVector<int64_t> fullShape(Value aligned, size_t rank) {
  ArrayRef<int64_t> own = tensorType(aligned).getShape();
  SmallVector<int64_t> shape(rank - own.size(), 1);
  llvm::append_range(shape, own);
  return shape;
}

/// Reads `data` at `index`, a tensor over the loops, in the dimension that is no loop.
Value LinalgNodes::gather(Read data, Value index, Operation *&node) {
  int64_t axis = llvm::find(data.loops, -2) - data.loops.begin();
  SmallVector<int64_t> shape = fullShape(index, extents.size()), loops, own;
  for (auto [loop, extent] : llvm::enumerate(shape))
    if (extent != 1) {
      if (llvm::is_contained(data.loops, int64_t(loop)))
        return gatherElements(data, index, node);
      loops.push_back(loop);
      own.push_back(extent);
    }
  index = reshapeTo(index, own);
  RankedTensorType type = tensorType(data.tensor);
  SmallVector<int64_t> result(type.getShape());
  result.erase(result.begin() + axis);
  result.insert(result.begin() + axis, own.begin(), own.end());
  auto made =
      nodes.create(op::Gather, type.clone(result), {data.tensor, index}, nodes.attr("axis", axis));
  node = made;
  data.loops.erase(data.loops.begin() + axis);
  data.loops.insert(data.loops.begin() + axis, loops.begin(), loops.end());
  data.tensor = made.getResult(0);
  return align(data, int64_t(extents.size()));
}

/// The same where the index depends on loops of other dimensions of the data.
Value LinalgNodes::gatherElements(Read data, Value index, Operation *&node) {
  int64_t axis = llvm::find(data.loops, -2) - data.loops.begin();
  SmallVector<int64_t> shape = fullShape(index, extents.size());
  Read at{reshapeTo(index, shape), {}};
  int64_t own = -1;
  for (auto [loop, extent] : llvm::enumerate(shape)) {
    at.loops.push_back(loop);
    if (extent == 1 || llvm::is_contained(data.loops, int64_t(loop)))
      continue;
    if (own >= 0)
      return {};
    own = loop;
  }
  SmallVector<int64_t> order, wanted, result;
  RankedTensorType type = tensorType(data.tensor);
  for (auto [dim, loop] : llvm::enumerate(data.loops)) {
    int64_t of = int64_t(dim) == axis ? own : loop;
    if (of < 0 && int64_t(dim) != axis)
      return {}; // one element
    wanted.push_back(of);
    result.push_back(of < 0 ? 1 : extents[of]);
  }
  // The other loops have one element; those of the data come in its order.
  SmallVector<int64_t> used, sizes;
  for (int64_t loop : wanted)
    if (loop >= 0) {
      order.push_back(loop);
      used.push_back(shape[loop]);
    }
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return {};
  for (int64_t loop : sorted)
    sizes.push_back(shape[loop]);
  SmallVector<int64_t> permutation;
  for (int64_t loop : order)
    permutation.push_back(llvm::find(sorted, loop) - sorted.begin());
  Value indices = transposeTo(reshapeTo(at.tensor, sizes), permutation);
  if (own < 0)
    used.insert(used.begin() + axis, 1);
  indices = expandTo(reshapeTo(indices, used), result);
  auto made = nodes.create(op::GatherElements, type.clone(result), {data.tensor, indices},
                           nodes.attr("axis", axis));
  node = made;
  for (int64_t &loop : wanted)
    loop = loop < 0 ? -1 : loop;
  return align({made.getResult(0), wanted}, int64_t(extents.size()));
}

/// Reads an element of `tensor` at each tuple of `indices`.
Value LinalgNodes::gatherTuples(Value tensor, ArrayRef<Value> indices, Operation *&node) {
  SmallVector<int64_t> shape;
  Type i64 = nodes.getBuilder().getI64Type();
  SmallVector<Value> columns(indices);
  for (Value index : indices) { // their common shape
    ArrayRef<int64_t> own = tensorType(index).getShape();
    if (own.size() > shape.size())
      shape.insert(shape.begin(), own.size() - shape.size(), 1);
    auto last = MutableArrayRef(shape).take_back(own.size());
    for (auto [extent, other] : llvm::zip_equal(last, own))
      extent = extent == 1 ? other : extent;
  }
  // ONNX's shape inference knows no GatherND whose result is a scalar.
  const bool isScalar = shape.empty();
  if (isScalar)
    shape.push_back(1);
  SmallVector<int64_t> tuple(shape);
  tuple.push_back(1);
  for (Value &index : columns)
    index = reshapeTo(expandTo(nodes.cast(index, i64), shape), tuple);
  auto made = nodes.create(op::GatherND, tensorType(tensor).clone(shape),
                           {tensor, concat(columns, int64_t(shape.size()))});
  node = made;
  Value element = made.getResult(0);
  return isScalar ? nodes.reshape(element, {}) : element;
}

Value LinalgNodes::translateExtract(tensor::ExtractOp extract) {
  Value tensor = translate(extract.getTensor());
  if (!tensor || extract.getIndices().empty())
    return tensor;
  RankedTensorType type = tensorType(tensor);
  if (int64_t(extract.getIndices().size()) != type.getRank())
    return {};
  // Data is bound before it is looked at.
  SmallVector<Value> indices;
  SmallVector<std::pair<Value, int64_t>> data;
  Exprs exprs;
  for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
    int64_t extent = type.getDimSize(axis);
    Value wrapped = wrappedIndex(index, extent);
    exprs.push_back(affineOf(index));
    indices.push_back(wrapped ? wrapped : index);
    if (!exprs.back())
      data.emplace_back(indices.back(), extent);
  }
  Operation *node = nullptr;
  Value element;
  int64_t rank = extents.size();
  if (data.empty()) {
    Read found = read(tensor, exprs);
    return found.tensor ? align(found, rank) : Value();
  }
  if (data.size() == 1) {
    Value index = translate(data.front().first);
    Read found = index ? read(tensor, exprs) : Read{};
    element = found.tensor ? gather(found, index, node) : Value();
  }
  if (!element) {
    SmallVector<Value> tuple;
    for (Value index : indices) {
      tuple.push_back(translate(index));
      if (!tuple.back())
        return {};
    }
    element = gatherTuples(tensor, tuple, node);
  }
  // A check of one index is a check of all in tuples.
  if (node && data.size() == 1)
    checked.push_back({withoutCasts(data.front().first), data.front().second, node});
  return element;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether a node checks `condition`, a comparison of an index with a bound; the node may have to
/// check more than before.
bool LinalgNodes::isCheckedByNode(Value condition) {
  auto test = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<int64_t> bound = test ? integerOf(test.getRhs()) : std::nullopt;
  if (!bound)
    return false;
  using P = arith::CmpIPredicate;
  Value index = withoutCasts(test.getLhs());
  const auto *found =
      llvm::find_if(checked, [&](const CheckedIndex &entry) { return entry.index == index; });
  if (found == checked.end())
    return false;
  P predicate = test.getPredicate();
  bool isUpper = (predicate == P::slt && *bound >= found->extent) ||
                 (predicate == P::sle && *bound >= found->extent - 1) ||
                 (predicate == P::ult && *bound >= found->extent);
  bool isLower = (predicate == P::sge && *bound == 0) || (predicate == P::sgt && *bound == -1) ||
                 predicate == P::ult;
  if (!isUpper && !isLower)
    return false;
  if (isLower)
    for (CheckedIndex &entry : checked)
      if (entry.index == index) {
        auto node = cast<onnx::NodeOp>(entry.node);
        NamedAttrList attrs(node.getAttrs());
        attrs.set(ops::kLeastIndex, nodes.getBuilder().getI64IntegerAttr(0));
        node.setAttrsAttr(attrs.getDictionary(node.getContext()));
      }
  return true;
}

/// Whether a comparison of an index with a number holds for all values of the loops.
bool LinalgNodes::holdsForAllLoops(Value condition) {
  auto test = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<int64_t> bound = test ? integerOf(test.getRhs()) : std::nullopt;
  AffineExpr expr = bound ? affineOf(test.getLhs()) : AffineExpr();
  if (!expr)
    return false;
  // The index is between its values at the endpoints of the loops, if it is linear in each.
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, extents.size(), 0, &flat)) ||
      flat.size() != extents.size() + 1)
    return false;
  int64_t least = flat.back(), greatest = flat.back();
  for (auto [factor, extent] : llvm::zip(flat, extents))
    (factor < 0 ? least : greatest) += factor * (extent - 1);
  auto holds = [&](int64_t value) {
    return arith::applyCmpPredicate(test.getPredicate(), APInt(64, value, true),
                                    APInt(64, *bound, true));
  };
  using P = arith::CmpIPredicate;
  bool isOrder = !llvm::is_contained({P::eq, P::ne}, test.getPredicate());
  bool isUnsigned = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, test.getPredicate());
  return isOrder && (!isUnsigned || least >= 0) && holds(least) && holds(greatest);
}

/// Collects the conditions of `body` that no node checks.
LogicalResult LinalgNodes::translateAsserts(Block &body) {
  for (auto check : body.getOps<cf::AssertOp>()) {
    if (isCheckedByNode(check.getArg()) || holdsForAllLoops(check.getArg()))
      continue;
    Value condition = translate(check.getArg());
    if (!condition)
      return failure();
    DenseElementsAttr elements;
    bool isProven = matchPattern(condition, m_Constant(&elements)) && elements.isSplat() &&
                    elements.getSplatValue<bool>();
    if (!isProven)
      conditions.emplace_back(condition, check.getMsgAttr());
  }
  return success();
}

/// `value`, which exists only if all conditions hold.
Value LinalgNodes::guarded(Value value) {
  for (auto [condition, message] : conditions)
    value = nodes
                .create(own::CheckTrue, value.getType(), {value, condition},
                        nodes.attr("message", message.getValue()))
                .getResult(0);
  return value;
}

} // namespace zero
