//===- LoopNodes.cpp - loops of kernels as nodes --------------------------===//

#include "KernelNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// The shape of loops
//===----------------------------------------------------------------------===//

static bool hasReduction(linalg::GenericOp loops) { return loops.getNumReductionLoops() > 0; }

/// The operands of `loops` with their maps.
static SmallVector<std::pair<Value, AffineMap>> operandsOf(linalg::GenericOp loops) {
  SmallVector<std::pair<Value, AffineMap>> all;
  for (auto [operand, map] : llvm::zip_equal(loops->getOperands(), loops.getIndexingMapsArray()))
    all.emplace_back(operand, map);
  return all;
}

bool KernelNodes::isFlat(linalg::GenericOp loops, Shape &shape) {
  if (hasReduction(loops))
    return false;
  bool differs = false;
  for (auto [operand, map] : operandsOf(loops)) {
    if (map.getNumResults() == 0)
      continue;
    if (!map.isIdentity())
      return false;
    if (operand.getDefiningOp<tensor::EmptyOp>())
      continue;
    Value outside = translate(operand);
    if (!outside)
      return false;
    shape = Shape(tensorType(outside).getShape());
    differs |= int64_t(shape.size()) != int64_t(map.getNumDims());
  }
  return differs;
}

RankedTensorType KernelNodes::typeOf(Value inside) {
  auto type = cast<RankedTensorType>(inside.getType());
  if (Value outside = known.lookup(inside))
    return tensorType(outside);
  if (type.hasStaticShape())
    return type;
  if (auto fill = inside.getDefiningOp<linalg::FillOp>())
    return typeOf(fill.getOutputs().front());
  auto empty = inside.getDefiningOp<tensor::EmptyOp>();
  if (!empty) {
    Value outside = translate(inside);
    return outside ? tensorType(outside) : type;
  }
  Shape shape(type.getShape());
  unsigned next = 0;
  for (int64_t &extent : shape) {
    if (!ShapedType::isDynamic(extent))
      continue;
    auto size = empty.getDynamicSizes()[next++].getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> dim = size ? size.getConstantIndex() : std::nullopt;
    RankedTensorType source = dim ? typeOf(size.getSource()) : RankedTensorType();
    if (source && *dim < source.getRank())
      extent = source.getDimSize(*dim);
  }
  return type.clone(shape);
}

FailureOr<KernelNodes::Shape> KernelNodes::extentsOf(linalg::GenericOp loops) {
  Shape shape(loops.getNumLoops(), ShapedType::kDynamic);
  for (auto [operand, map] : operandsOf(loops)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    type = typeOf(operand);
    if (type.getRank() != int64_t(map.getNumResults()))
      return failure();
    for (auto [index, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !type.isDynamicDim(index))
        shape[dim.getPosition()] = type.getDimSize(index);
  }
  if (ShapedType::isDynamicShape(shape))
    return failure();
  return shape;
}

Value KernelNodes::indexOf(int64_t dim) {
  if (dim >= int64_t(extents.size()))
    return {};
  SmallVector<int64_t> shape(extents.size() - dim, 1);
  shape.front() = extents[dim];
  Builder builder(nodes.getBuilder().getContext());
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  // Few numbers are a constant, many are computed.
  constexpr int64_t kMostListed = 1024;
  if (extents[dim] <= kMostListed)
    return nodes.reshape(nodes.indices(llvm::to_vector(llvm::seq<int64_t>(extents[dim]))), shape);
  Value bounds[] = {scalars.integer(0, builder.getI64Type()),
                    scalars.integer(extents[dim], builder.getI64Type()),
                    scalars.integer(1, builder.getI64Type())};
  Value range = nodes.create(op::Range, type.clone({extents[dim]}), bounds).getResult(0);
  return nodes.reshape(range, shape);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The loops that `expr` depends on, in order.
static SmallVector<int64_t> loopsOf(AffineExpr expr) {
  SmallVector<int64_t> loops;
  expr.walk([&](AffineExpr inner) {
    if (auto dim = dyn_cast<AffineDimExpr>(inner))
      loops.push_back(dim.getPosition());
  });
  llvm::sort(loops);
  loops.erase(llvm::unique(loops), loops.end());
  return loops;
}

/// The values of `expr` for all values of `loops`, row by row.
static SmallVector<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> loops,
                                     ArrayRef<int64_t> extents) {
  SmallVector<int64_t> values;
  SmallVector<AffineExpr> point(extents.size(), getAffineConstantExpr(0, expr.getContext()));
  int64_t count = 1;
  for (int64_t loop : loops)
    count *= extents[loop];
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    for (int64_t loop : llvm::reverse(loops)) {
      point[loop] = getAffineConstantExpr(rest % extents[loop], expr.getContext());
      rest /= extents[loop];
    }
    values.push_back(cast<AffineConstantExpr>(expr.replaceDims(point)).getValue());
  }
  return values;
}

/// `tensor` as `map` reads it: a Gather where an index is not simply a loop.
KernelNodes::Read KernelNodes::read(Value tensor, AffineMap map) {
  Read read{tensor, {}};
  for (AffineExpr expr : map.getResults())
    read.loops.push_back(isa<AffineDimExpr>(expr) ? int64_t(cast<AffineDimExpr>(expr).getPosition())
                                                  : -1);
  for (int64_t axis = map.getNumResults(); axis-- > 0;) {
    AffineExpr expr = map.getResult(axis);
    RankedTensorType type = tensorType(read.tensor);
    SmallVector<int64_t> loops = loopsOf(expr);
    if (isa<AffineDimExpr>(expr) || (loops.empty() && type.getDimSize(axis) == 1))
      continue;
    SmallVector<int64_t> shape(type.getShape()), indexShape;
    for (int64_t loop : loops)
      indexShape.push_back(extents[loop]);
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, indexShape.begin(), indexShape.end());
    Value at = nodes.indices(evaluate(expr, loops, extents));
    at = nodes.reshape(at, indexShape);
    read.tensor =
        nodes.create(op::Gather, type.clone(shape), {read.tensor, at}, nodes.attr("axis", axis))
            .getResult(0);
    read.loops.erase(read.loops.begin() + axis);
    read.loops.insert(read.loops.begin() + axis, loops.begin(), loops.end());
  }
  return read;
}

/// The tensor of `read` with a dimension for each loop, or one that broadcasts so.
Value KernelNodes::align(Read read, int64_t rank) {
  SmallVector<int64_t> loops, shape;
  for (auto [loop, extent] : llvm::zip_equal(read.loops, tensorType(read.tensor).getShape()))
    if (loop >= 0) {
      loops.push_back(loop);
      shape.push_back(extent);
    }
  Value value = reshapeTo(read.tensor, shape);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(loops.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return loops[a] < loops[b]; });
  if (!llvm::is_sorted(loops))
    value = nodes.transpose(value, order);
  llvm::sort(loops);
  if (std::adjacent_find(loops.begin(), loops.end()) != loops.end())
    return {}; // a diagonal
  SmallVector<int64_t> aligned(loops.empty() ? 0 : rank - loops.front(), 1);
  for (auto [loop, extent] : llvm::zip_equal(loops, tensorType(value).getShape()))
    aligned[loop - loops.front()] = extent;
  return reshapeTo(value, aligned);
}

LogicalResult KernelNodes::bindOperands(linalg::GenericOp loops, bool isFlat) {
  Block &body = *loops.getBody();
  for (auto [index, entry] : llvm::enumerate(operandsOf(loops))) {
    BlockArgument argument = body.getArgument(index);
    bool isInitial = int64_t(index) >= loops.getNumDpsInputs();
    if (argument.use_empty() || (isInitial && hasReduction(loops)))
      continue;
    auto [operand, map] = entry;
    Value outside = translate(operand);
    if (outside && !isFlat && isa<RankedTensorType>(operand.getType()))
      outside = align(read(outside, map), loops.getNumLoops());
    if (!outside)
      return failure();
    known[argument] = outside;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// `value`, whose dimensions are those of `dims`, with the dimensions of `map`.
Value KernelNodes::finish(Value value, AffineMap map, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape, order;
  for (int64_t dim : dims)
    shape.push_back(extents[dim]);
  value = nodes.expand(value, shape);
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    const auto *at = dim ? llvm::find(dims, int64_t(dim.getPosition())) : dims.end();
    if (at == dims.end())
      return {};
    order.push_back(at - dims.begin());
  }
  return llvm::is_sorted(order) ? value : nodes.transpose(value, order);
}

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
    {"arith.maximumf", op::ReduceMax}, {"arith.maxsi", op::ReduceMax},
    {"arith.minimumf", op::ReduceMin}, {"arith.minsi", op::ReduceMin},
};

/// Whether `initial` is a fill that does not change what `reduction` computes.
static bool isNeutral(Value initial, onnx::Operator reduction) {
  auto fill = initial.getDefiningOp<linalg::FillOp>();
  Attribute attr;
  if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&attr)))
    return false;
  bool isMax = reduction == op::ReduceMax;
  if (auto number = dyn_cast<FloatAttr>(attr)) {
    APFloat value = number.getValue();
    if (reduction == op::ReduceSum)
      return value.isZero();
    return reduction == op::ReduceProd ? value.convertToDouble() == 1
                                       : value.isInfinity() && value.isNegative() == isMax;
  }
  APInt value = cast<IntegerAttr>(attr).getValue();
  if (reduction == op::ReduceSum)
    return value.isZero();
  if (reduction == op::ReduceProd)
    return value.isOne();
  return isMax ? value.isMinSignedValue() : value.isMaxSignedValue();
}

/// Loops by whether they are summed.
static SmallVector<int64_t> loopsOfKind(linalg::GenericOp loops, utils::IteratorType kind) {
  SmallVector<int64_t> found;
  for (auto [index, iterator] : llvm::enumerate(loops.getIteratorTypesArray()))
    if (iterator == kind)
      found.push_back(index);
  return found;
}

/// The operand of `combiner` that is not `initial`; null unless it is the only other one.
static Value otherOperand(Operation *combiner, BlockArgument initial) {
  if (combiner->getNumOperands() != 2 || !initial.hasOneUse())
    return {};
  return combiner->getOperand(combiner->getOperand(0) == initial ? 1 : 0);
}

/// A sum of products of two operands: an Einsum, which does not store the products.
Value KernelNodes::contraction(linalg::GenericOp loops, Operation *combiner) {
  BlockArgument initial = loops.getBody()->getArguments().back();
  Value other = otherOperand(combiner, initial);
  Operation *product = other ? other.getDefiningOp() : nullptr;
  if (loops.getNumResults() != 1 || !isa<arith::AddFOp, arith::AddIOp>(combiner) || !product ||
      !isa<arith::MulFOp, arith::MulIOp>(product))
    return {};
  std::string equation;
  SmallVector<Value> tensors;
  auto letters = [&](ArrayRef<int64_t> of) {
    for (int64_t loop : of)
      equation += char('a' + loop);
  };
  for (Value factor : product->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(factor);
    if (!argument || argument == initial || argument.getOwner() != loops.getBody())
      return {};
    auto [operand, map] = operandsOf(loops)[argument.getArgNumber()];
    if (!isa<RankedTensorType>(operand.getType()))
      return {};
    Value outside = translate(operand);
    if (!outside)
      return {};
    Read factors = read(outside, map);
    if (llvm::is_contained(factors.loops, -1))
      return {};
    equation += tensors.empty() ? "" : ",";
    letters(factors.loops);
    tensors.push_back(factors.tensor);
  }
  SmallVector<int64_t> kept = loopsOfKind(loops, utils::IteratorType::parallel), shape;
  for (int64_t loop : kept)
    shape.push_back(extents[loop]);
  equation += "->";
  letters(kept);
  return nodes
      .create(op::Einsum, tensorType(tensors[0]).clone(shape), tensors,
              nodes.attr("equation", StringRef(equation)))
      .getResult(0);
}

Value KernelNodes::reduce(linalg::GenericOp loops, unsigned result) {
  Block &body = *loops.getBody();
  Operation *combiner = body.getTerminator()->getOperand(result).getDefiningOp();
  BlockArgument initial = body.getArgument(loops.getNumDpsInputs() + result);
  const auto *known =
      combiner ? llvm::find_if(kCombiners,
                               [&](const Combiner &entry) {
                                 return entry.operation == combiner->getName().getStringRef();
                               })
               : std::end(kCombiners);
  if (known == std::end(kCombiners) || !otherOperand(combiner, initial))
    return {};
  SmallVector<int64_t> kept = loopsOfKind(loops, utils::IteratorType::parallel);
  SmallVector<int64_t> axes = loopsOfKind(loops, utils::IteratorType::reduction);
  Value sums = contraction(loops, combiner);
  if (!sums) {
    if (failed(bindOperands(loops, /*isFlat=*/false)))
      return {};
    Value element = translate(otherOperand(combiner, initial));
    if (!element)
      return {};
    SmallVector<int64_t> shape(extents.size(), 1);
    llvm::copy(tensorType(element).getShape(), shape.end() - tensorType(element).getRank());
    for (int64_t axis : axes)
      shape[axis] = extents[axis];
    element = nodes.expand(element, shape);
    SmallVector<int64_t> left;
    for (int64_t loop : kept)
      left.push_back(shape[loop]);
    sums = nodes
               .create(known->reduction, tensorType(element).clone(left),
                       {element, nodes.indices(axes)}, nodes.attr("keepdims", int64_t(0)))
               .getResult(0);
  }
  OpOperand *init = loops.getDpsInitOperand(result);
  sums = finish(sums, loops.getMatchingIndexingMap(init), kept);
  if (!sums || isNeutral(init->get(), known->reduction))
    return sums;
  Value before = translate(init->get());
  return before ? scalars.emit(combiner, {before, sums}) : Value();
}

LogicalResult KernelNodes::translateLoops(linalg::GenericOp loops) {
  Shape outer = extents, shape;
  bool flat = isFlat(loops, shape);
  if (!flat) {
    FailureOr<Shape> known = extentsOf(loops);
    if (failed(known))
      return failure();
    shape = *known;
  }
  extents = shape;
  llvm::scope_exit restore([&] { extents = outer; });
  bool reduces = hasReduction(loops);
  if (!reduces && failed(bindOperands(loops, flat)))
    return failure();
  auto all = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
  for (auto [index, result] : llvm::enumerate(loops.getResults())) {
    Value value;
    if (reduces) {
      value = reduce(loops, index);
    } else {
      value = translate(loops.getBody()->getTerminator()->getOperand(index));
      AffineMap map = loops.getMatchingIndexingMap(loops.getDpsInitOperand(index));
      if (value && flat)
        value = nodes.expand(value, shape);
      else if (value)
        value = finish(value, map, all);
    }
    if (!value)
      return failure();
    known[result] = value;
  }
  return success();
}

} // namespace zero
