//===- LinalgReductions.cpp - loops that reduce as nodes ------------------===//

#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {

namespace {
/// How a reduction combines its values.
struct Combiner {
  StringLiteral operation;
  onnx::Operator reduction;
};
} // namespace

static constexpr Combiner kCombiners[] = {
    {"arith.addf", op::ReduceSum},     {"arith.addi", op::ReduceSum},
    {"arith.mulf", op::ReduceProd},    {"arith.muli", op::ReduceProd},
    {"arith.maximumf", op::ReduceMax}, {"arith.maxnumf", op::ReduceMax},
    {"arith.maxsi", op::ReduceMax},    {"arith.minimumf", op::ReduceMin},
    {"arith.minnumf", op::ReduceMin},  {"arith.minsi", op::ReduceMin},
    {"arith.ori", op::ReduceMax},      {"arith.andi", op::ReduceMin},
};

static const Combiner *combinerOf(Operation *op) {
  if (!op || op->getNumResults() != 1)
    return nullptr;
  const auto *found = llvm::find_if(kCombiners, [&](const Combiner &entry) {
    return entry.operation == op->getName().getStringRef();
  });
  bool isBool = op->getResult(0).getType().isInteger(1);
  if (found == std::end(kCombiners) || isBool != isa<arith::OrIOp, arith::AndIOp>(op))
    return nullptr;
  return found;
}

/// The number that all elements of `initial` are.
static TypedAttr numberOf(Value initial) {
  Attribute attr;
  if (auto fill = initial.getDefiningOp<linalg::FillOp>()) {
    if (matchPattern(fill.getInputs().front(), m_Constant(&attr)))
      return dyn_cast<TypedAttr>(attr);
    return {};
  }
  DenseElementsAttr elements;
  if (matchPattern(initial, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<TypedAttr>();
  return {};
}

/// Whether `initial` does not change what `combiner` computes.
static bool isNeutral(Value initial, Operation *combiner, onnx::Operator reduction) {
  TypedAttr attr = numberOf(initial);
  if (!attr)
    return false;
  bool isMax = reduction == op::ReduceMax;
  if (auto number = dyn_cast<FloatAttr>(attr)) {
    APFloat value = number.getValue();
    if (reduction == op::ReduceSum)
      return value.isZero();
    if (reduction == op::ReduceProd)
      return value.convertToDouble() == 1;
    bool ignoresNan = isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner);
    return (value.isInfinity() && value.isNegative() == isMax) || (value.isNaN() && ignoresNan);
  }
  APInt value = cast<IntegerAttr>(attr).getValue();
  if (isa<arith::OrIOp, arith::AndIOp>(combiner))
    return value.isZero() == isMax;
  if (reduction == op::ReduceSum)
    return value.isZero();
  if (reduction == op::ReduceProd)
    return value.isOne();
  return isMax ? value.isMinSignedValue() : value.isMaxSignedValue();
}

/// Loops by whether they are summed.
static SmallVector<int64_t> loopsOfKind(linalg::LinalgOp loops, utils::IteratorType kind) {
  SmallVector<int64_t> found;
  for (auto [index, iterator] : llvm::enumerate(loops.getIteratorTypesArray()))
    if (iterator == kind)
      found.push_back(index);
  return found;
}

/// The operand of `combiner` that is not `initial`; null unless it is the only other one.
static Value otherOperand(Operation *combiner, BlockArgument initial) {
  if (combiner->getNumOperands() != 2 || !llvm::is_contained(combiner->getOperands(), initial))
    return {};
  Value other = combiner->getOperand(combiner->getOperand(0) == initial ? 1 : 0);
  return other == initial ? Value() : other;
}

/// `element`, whose last dimensions are loops, reduced over `axes`.
Value LinalgNodes::reduceAxes(Value element, Operation *combiner, ArrayRef<int64_t> axes,
                              bool keepdims) {
  onnx::Operator reduction = combinerOf(combiner)->reduction;
  Builder &builder = nodes.getBuilder();
  Type type = tensorType(element).getElementType();
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner)) {
    bool isMax = isa<arith::MaxNumFOp>(combiner);
    APFloat least = APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), isMax);
    element = nodes.where(nodes.unary(op::IsNaN, element),
                          scalars.constant(builder.getFloatAttr(type, least)), element);
  }
  if (type.isInteger(1))
    element = nodes.cast(element, builder.getIntegerType(8));
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(tensorType(element).getShape())) {
    bool isReduced = llvm::is_contained(axes, int64_t(dim));
    if (!isReduced || keepdims)
      shape.push_back(isReduced ? 1 : extent);
  }
  Value result =
      nodes
          .create(reduction, tensorType(element).clone(shape), {element, nodes.indices(axes)},
                  nodes.attr("keepdims", int64_t(keepdims)))
          .getResult(0);
  return type.isInteger(1) ? nodes.cast(result, type) : result;
}

/// Whether the dimensions of the result are the loops, with one element for those that are reduced.
static bool keepsDims(AffineMap map, ArrayRef<int64_t> axes) {
  if (map.getNumResults() != map.getNumDims())
    return false;
  for (auto [loop, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isReduced = llvm::is_contained(axes, int64_t(loop));
    if (isReduced ? !isa<AffineConstantExpr>(expr) : !dim || dim.getPosition() != loop)
      return false;
  }
  return true;
}

/// Whether a tensor of `shape` has several times the elements of any operand of `loops`.
static bool isLargerThanOperands(linalg::LinalgOp loops, ArrayRef<int64_t> shape) {
  constexpr uint64_t kMostTimes = 8;
  uint64_t count = 1;
  int64_t largest = 1;
  for (int64_t extent : shape)
    count = llvm::SaturatingMultiply<uint64_t>(count, extent);
  for (Type type : loops->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      largest = std::max(largest, tensor.getNumElements());
  return count / kMostTimes > uint64_t(largest);
}

/// Computes the elements by nodes, then reduces them.
Value LinalgNodes::reduceElements(linalg::LinalgOp loops, unsigned result, Operation *combiner) {
  BlockArgument initial = loops.getBlock()->getArgument(loops.getNumDpsInputs() + result);
  SmallVector<int64_t> kept = loopsOfKind(loops, utils::IteratorType::parallel);
  SmallVector<int64_t> axes = loopsOfKind(loops, utils::IteratorType::reduction);
  if (failed(bindOperands(loops, /*isFlat=*/false)))
    return {};
  Value element = translate(otherOperand(combiner, initial));
  if (!element)
    return {};
  SmallVector<int64_t> shape(extents.size(), 1);
  llvm::copy(tensorType(element).getShape(), shape.end() - tensorType(element).getRank());
  for (int64_t axis : axes)
    shape[axis] = extents[axis];
  // A sum of products of integers has no node that does not store the products.
  if (form == Form::Exact && isa<IntegerType>(tensorType(element).getElementType()) &&
      isLargerThanOperands(loops, shape))
    return {};
  element = reshapeTo(expandTo(element, shape), shape);
  AffineMap map = loops.getMatchingIndexingMap(loops.getDpsInitOperand(result));
  if (keepsDims(map, axes)) {
    SmallVector<int64_t> full(extents);
    for (int64_t axis : axes)
      full[axis] = 1;
    return expandTo(reduceAxes(element, combiner, axes, /*keepdims=*/true), full);
  }
  return finish(reduceAxes(element, combiner, axes, /*keepdims=*/false), map, kept);
}

/// `value` combined with the initial one.
Value LinalgNodes::combineInitial(linalg::LinalgOp loops, unsigned result, Operation *combiner,
                                  onnx::Operator reduction, Value value) {
  Value init = loops.getDpsInitOperand(result)->get();
  if (isNeutral(init, combiner, reduction))
    return value;
  Value before = translate(init);
  return before ? scalars.emit(combiner, {before, value}) : Value();
}

Value LinalgNodes::reduce(linalg::LinalgOp loops, unsigned result) {
  Block &body = *loops.getBlock();
  Operation *combiner = body.getTerminator()->getOperand(result).getDefiningOp();
  BlockArgument initial = body.getArgument(loops.getNumDpsInputs() + result);
  const Combiner *known = combinerOf(combiner);
  if (!known || !otherOperand(combiner, initial))
    return positionOfBest(loops, result);
  Value value = contraction(loops, combiner);
  if (!value)
    value = reduceElements(loops, result, combiner);
  return value ? combineInitial(loops, result, combiner, known->reduction, value) : Value();
}

//===----------------------------------------------------------------------===//
// The position of an extreme
//===----------------------------------------------------------------------===//

/// Whether `compare` says that `value` is beyond `best`; whether it looks for the largest one.
static std::optional<bool> looksForLargest(Operation *compare, Value value, Value best) {
  auto order = [&](auto greater, auto less, auto predicate) -> std::optional<bool> {
    bool swapped = compare->getOperand(0) == best && compare->getOperand(1) == value;
    if (!swapped && (compare->getOperand(0) != value || compare->getOperand(1) != best))
      return std::nullopt;
    if (predicate == greater)
      return !swapped;
    if (predicate == less)
      return swapped;
    return std::nullopt;
  };
  if (auto floats = dyn_cast_if_present<arith::CmpFOp>(compare))
    return order(arith::CmpFPredicate::OGT, arith::CmpFPredicate::OLT, floats.getPredicate());
  if (auto integers = dyn_cast_if_present<arith::CmpIOp>(compare))
    return order(arith::CmpIPredicate::sgt, arith::CmpIPredicate::slt, integers.getPredicate());
  return std::nullopt;
}

/// The result that the index of the first extreme is: select(in > best, index, position), beside a
/// result that is the extreme itself. An ArgMax; of NaN it may be another position.
Value LinalgNodes::positionOfBest(linalg::LinalgOp loops, unsigned result) {
  Block &body = *loops.getBlock();
  SmallVector<int64_t> axes = loopsOfKind(loops, utils::IteratorType::reduction);
  auto argumentOf = [&](unsigned of) { return body.getArgument(loops.getNumDpsInputs() + of); };
  auto choice = body.getTerminator()->getOperand(result).getDefiningOp<arith::SelectOp>();
  if (!choice || loops->getNumResults() != 2 || axes.size() != 1 ||
      choice.getFalseValue() != argumentOf(result))
    return {};
  Value index = choice.getTrueValue(), best = argumentOf(1 - result);
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  auto position = index.getDefiningOp<linalg::IndexOp>();
  Operation *extreme = body.getTerminator()->getOperand(1 - result).getDefiningOp();
  const Combiner *combiner = combinerOf(extreme);
  Value element = combiner ? otherOperand(extreme, cast<BlockArgument>(best)) : Value();
  TypedAttr start = numberOf(loops.getDpsInits()[result]);
  if (!position || int64_t(position.getDim()) != axes[0] || !element || !start ||
      !cast<IntegerAttr>(start).getValue().isZero() ||
      !isNeutral(loops.getDpsInits()[1 - result], extreme, combiner->reduction))
    return {};
  std::optional<bool> largest =
      looksForLargest(choice.getCondition().getDefiningOp(), element, best);
  if (!largest || combiner->reduction != (*largest ? op::ReduceMax : op::ReduceMin) ||
      failed(bindOperands(loops, /*isFlat=*/false)))
    return {};
  Value values = translate(element);
  if (!values)
    return {};
  values = expandTo(values, extents);
  SmallVector<int64_t> shape(extents);
  shape.erase(shape.begin() + axes[0]);
  Type i64 = nodes.getBuilder().getI64Type();
  Value at = nodes
                 .create(*largest ? op::ArgMax : op::ArgMin, RankedTensorType::get(shape, i64),
                         values, {nodes.attr("axis", axes[0]), nodes.attr("keepdims", int64_t(0))})
                 .getResult(0);
  at = nodes.cast(at, elementFor(loops->getResult(result).getType()));
  return finish(at, loops.getMatchingIndexingMap(loops.getDpsInitOperand(result)),
                loopsOfKind(loops, utils::IteratorType::parallel));
}

} // namespace zero
