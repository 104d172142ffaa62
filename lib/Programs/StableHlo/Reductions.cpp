//===- Reductions.cpp - reductions over dimensions ------------------------===//
//
// A reduction of one operand with a known combiner is one Reduce node; an initial value other than
// the neutral one is combined with its result. A reduction of values and their indices, as JAX
// writes argmax and argmin, is a ReduceMax or ReduceMin and an ArgMax or ArgMin. Any other body
// combines halves of a dimension until one element is left.
//
//===----------------------------------------------------------------------===//

#include "Reductions.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

std::optional<Combiner> combinerFor(StringRef name, Type element) {
  const bool isLogic = isBool(element);
  if (name == "stablehlo.add")
    return Combiner{isLogic ? op::ReduceMax : op::ReduceSum, isLogic ? op::Or : op::Add,
                    isLogic ? Combiner::Lowest : Combiner::Zero};
  if (name == "stablehlo.multiply")
    return Combiner{isLogic ? op::ReduceMin : op::ReduceProd, isLogic ? op::And : op::Mul,
                    Combiner::One};
  if (name == "stablehlo.maximum" || (isLogic && name == "stablehlo.or"))
    return Combiner{op::ReduceMax, isLogic ? op::Or : op::Max, Combiner::Lowest};
  if (name == "stablehlo.minimum" || (isLogic && name == "stablehlo.and"))
    return Combiner{op::ReduceMin, isLogic ? op::And : op::Min, Combiner::Highest};
  return std::nullopt;
}

DenseElementsAttr neutralElement(const Combiner &combiner, Type element) {
  auto type = RankedTensorType::get({}, element);
  if (auto floating = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    switch (combiner.neutral) {
    case Combiner::Zero:
      return DenseElementsAttr::get(type, APFloat::getZero(semantics, /*Negative=*/true));
    case Combiner::One:
      return DenseElementsAttr::get(type, APFloat::getOne(semantics));
    case Combiner::Lowest:
      return DenseElementsAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true));
    case Combiner::Highest:
      return DenseElementsAttr::get(type, APFloat::getInf(semantics));
    }
  }
  const unsigned width = element.getIntOrFloatBitWidth();
  const bool noSign = element.isUnsignedInteger() || isBool(element);
  switch (combiner.neutral) {
  case Combiner::Zero:
    return DenseElementsAttr::get(type, APInt::getZero(width));
  case Combiner::One:
    return DenseElementsAttr::get(type, APInt(width, 1));
  case Combiner::Lowest:
    return DenseElementsAttr::get(type,
                                  noSign ? APInt::getZero(width) : APInt::getSignedMinValue(width));
  case Combiner::Highest:
    return DenseElementsAttr::get(type, noSign ? APInt::getAllOnes(width)
                                               : APInt::getSignedMaxValue(width));
  }
  return {};
}

bool isNeutral(Emitter &b, Value value, const Combiner &combiner) {
  DenseElementsAttr elements = b.constantOf(value);
  if (!elements || !elements.isSplat())
    return false;
  Type element = elements.getElementType();
  // Both zeros are neutral in a sum that has an element.
  if (combiner.neutral == Combiner::Zero && isa<FloatType>(element))
    return elements.getSplatValue<APFloat>().isZero();
  return elements.getSplatValue<Attribute>() ==
         neutralElement(combiner, element).getSplatValue<Attribute>();
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// Combines both halves of dimension `axis` of `tensors` by the body of `op` until one slice is
/// left.
static LogicalResult halve(ReduceOp op, Emitter &b, int64_t axis, SmallVectorImpl<Value> &tensors) {
  while (shapeOf(tensors.front())[axis] > 1) {
    const int64_t extent = shapeOf(tensors.front())[axis], half = extent / 2;
    SmallVector<Value> operands;
    for (int64_t begin : {int64_t(0), half})
      for (Value tensor : tensors)
        operands.push_back(b.sliceAxis(tensor, axis, begin, begin + half));
    FailureOr<SmallVector<Value>> combined = emitBody(b, op.getBody(), operands);
    if (failed(combined) || combined->size() != tensors.size())
      return failure();
    for (auto [tensor, value] : llvm::zip_equal(tensors, *combined))
      tensor = extent % 2 ? b.concat({value, b.sliceAxis(tensor, axis, extent - 1, extent)}, axis)
                          : value;
  }
  return success();
}

/// A reduction by any body, which StableHLO says is associative.
static LogicalResult reduceByHalves(ReduceOp op, Emitter &b, SmallVectorImpl<Value> &results) {
  const size_t count = op->getNumResults();
  SmallVector<Value> tensors(op.getOperands().take_front(count));
  ArrayRef<int64_t> full = shapeOf(tensors.front());
  auto shape = sizesOf(full, otherDims(full.size(), op.getDimensions()));
  bool fits = productOf(full) > 0;
  for (Value tensor : tensors)
    fits = fits && shapeOf(tensor) == full;
  for (int64_t axis : op.getDimensions())
    fits = fits && succeeded(halve(op, b, axis, tensors));
  SmallVector<Value> operands;
  for (Value start : op.getOperands().drop_front(count))
    operands.push_back(b.expand(start, shape));
  for (Value tensor : tensors)
    operands.push_back(fits ? b.reshape(tensor, shape) : tensor);
  FailureOr<SmallVector<Value>> combined;
  if (fits)
    combined = emitBody(b, op.getBody(), operands);
  if (failed(combined) || combined->size() != count)
    return b.refuse("expected elements, and a body of elementwise ops on scalars");
  llvm::append_range(results, *combined);
  return success();
}

static LogicalResult reduceOne(ReduceOp op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op.getOperands()[0], start = op.getOperands()[1];
  StringRef name = combinerOf(op.getBody());
  auto shape = sizesOf(shapeOf(x), otherDims(shapeOf(x).size(), op.getDimensions()));
  if (productOf(shapeOf(x)) == 0) {
    results.push_back(b.expand(start, shape));
    return success();
  }
  std::optional<Combiner> combiner = combinerFor(name, elementOf(x));
  if (!combiner)
    return reduceByHalves(op, b, results);
  Value result = b.reduce(combiner->reduction, x, op.getDimensions());
  if (!isNeutral(b, start, *combiner))
    result = b.binary(combiner->node, result, start);
  results.push_back(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Values and indices
//===----------------------------------------------------------------------===//

/// The comparison that `value` is, of `x` with `y` in this order.
static std::optional<ComparisonDirection> comparisonOf(Value value, Value x, Value y) {
  auto compare = value.getDefiningOp<CompareOp>();
  if (!compare || compare.getLhs() != x || compare.getRhs() != y)
    return std::nullopt;
  return compare.getComparisonDirection();
}

/// The operands of a logical or / and.
static bool isLogic(Value value, StringRef name, Value &a, Value &c) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getName().getStringRef() != name)
    return false;
  a = op->getOperand(0);
  c = op->getOperand(1);
  return true;
}

/// The comparison by which `picked` takes the first pair: GT for argmax, LT for argmin. JAX also
/// takes it if it is not a number.
static std::optional<ComparisonDirection> pickedBy(Value picked, Value x, Value y) {
  Value compared = picked, isNaN;
  if (isLogic(picked, "stablehlo.or", compared, isNaN) &&
      comparisonOf(isNaN, x, x) != ComparisonDirection::NE)
    return std::nullopt;
  auto direction = comparisonOf(compared, x, y);
  if (direction != ComparisonDirection::GT && direction != ComparisonDirection::LT)
    return std::nullopt;
  return direction;
}

/// Whether `picked` is `by`, or the values are equal and the first index is lower.
static bool picksLowerIndex(Value picked, Value by, Block &body) {
  Value before, tied, equal, lower;
  return isLogic(picked, "stablehlo.or", before, tied) && before == by &&
         isLogic(tied, "stablehlo.and", equal, lower) &&
         comparisonOf(equal, body.getArgument(0), body.getArgument(2)) == ComparisonDirection::EQ &&
         comparisonOf(lower, body.getArgument(1), body.getArgument(3)) == ComparisonDirection::LT;
}

/// The comparison of JAX's argmax or argmin, if `body` is that.
static std::optional<ComparisonDirection> argReduction(Block &body) {
  auto yield = cast<ReturnOp>(body.back());
  if (yield->getNumOperands() != 2)
    return std::nullopt;
  auto value = yield->getOperand(0).getDefiningOp<SelectOp>();
  auto index = yield->getOperand(1).getDefiningOp<SelectOp>();
  auto takes = [&](SelectOp select, unsigned first) {
    return select && select.getOnTrue() == body.getArgument(first) &&
           select.getOnFalse() == body.getArgument(first + 2);
  };
  if (!takes(value, 0) || !takes(index, 1) ||
      !picksLowerIndex(index.getPred(), value.getPred(), body))
    return std::nullopt;
  return pickedBy(value.getPred(), body.getArgument(0), body.getArgument(2));
}

/// Whether the elements of `value` are their indices along `axis`.
static bool isIota(Emitter &b, Value value, int64_t axis) {
  const int64_t rank = shapeOf(value).size();
  for (auto node = value.getDefiningOp<onnx::NodeOp>();
       node && node.isAnyOf({op::Expand, op::Cast}) && !b.constantOf(value);
       node = value.getDefiningOp<onnx::NodeOp>())
    value = node.getInputs().front();
  ArrayRef<int64_t> shape = shapeOf(value);
  if (int64_t(shape.size()) != rank)
    return false;
  // A long line of numbers is a Range.
  auto line = value.getDefiningOp<onnx::NodeOp>();
  if (line && line.is(op::Reshape))
    line = line.getInputs()[0].getDefiningOp<onnx::NodeOp>();
  if (line && line.is(op::Range))
    return b.splatOf(line.getInputs()[0]) == 0.0 && b.splatOf(line.getInputs()[2]) == 1.0 &&
           shape[axis] == productOf(shape);
  std::optional<SmallVector<int64_t>> numbers = b.intsOf(value);
  if (!numbers)
    return false;
  const int64_t inner = productOf(shape.drop_front(axis + 1));
  for (auto [position, number] : llvm::enumerate(*numbers))
    if (number != int64_t(position) / inner % shape[axis])
      return false;
  return true;
}

static LogicalResult reducePair(ReduceOp op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op.getOperands()[0], indices = op.getOperands()[1];
  ArrayRef<int64_t> dims = op.getDimensions();
  auto scalarOf = [](Value value) { return RankedTensorType::get({}, elementOf(value)); };
  Type types[] = {scalarOf(x), scalarOf(indices), scalarOf(x), scalarOf(indices)};
  Block *body = scalarBody(op.getBody(), types);
  auto direction = body ? argReduction(*body) : std::nullopt;
  if (!direction || dims.size() != 1 || shapeOf(x) != shapeOf(indices) ||
      shapeOf(x)[dims[0]] == 0 || !isIota(b, indices, dims[0]))
    return reduceByHalves(op, b, results);
  const bool isMax = direction == ComparisonDirection::GT;
  std::optional<Combiner> combiner =
      combinerFor(isMax ? "stablehlo.maximum" : "stablehlo.minimum", elementOf(x));
  if (!isNeutral(b, op.getOperands()[2], *combiner) || b.splatOf(op.getOperands()[3]) != 0.0)
    return reduceByHalves(op, b, results);
  Value best = b.reduce(combiner->reduction, x, dims);
  auto type = tensorType(best).clone(b.getBuilder().getI64Type());
  Value index = b.one(isMax ? op::ArgMax : op::ArgMin, type, x,
                      {b.attr("axis", dims[0]), b.attr("keepdims", int64_t(0))});
  results.push_back(best);
  results.push_back(b.cast(index, elementOf(indices)));
  return success();
}

static LogicalResult reduce(Operation *operation, Emitter &b, SmallVectorImpl<Value> &results) {
  auto op = cast<ReduceOp>(operation);
  ValueRange operands = op.getOperands();
  const size_t count = op->getNumResults();
  if (operands.size() != 2 * count || count == 0)
    return b.refuse("expected an initial value for each operand");
  for (size_t i = 0; i < count; ++i)
    if (!areDims(op.getDimensions(), shapeOf(operands[i]).size()) ||
        !shapeOf(operands[count + i]).empty() ||
        elementOf(operands[count + i]) != elementOf(operands[i]))
      return b.refuse("expected dimensions of the operands, and scalar initial values");
  if (count == 1)
    return reduceOne(op, b, results);
  return count == 2 ? reducePair(op, b, results) : reduceByHalves(op, b, results);
}

void addReductionRules(RuleTable &table) { table["stablehlo.reduce"] = reduce; }

} // namespace zero::hlo
