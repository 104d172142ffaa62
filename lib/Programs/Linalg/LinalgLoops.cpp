//===- LinalgLoops.cpp - loops over tensors as nodes ----------------------===//

#include "zero/Programs/Linalg/LinalgNodes.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace zero {

//===----------------------------------------------------------------------===//
// The shape of loops
//===----------------------------------------------------------------------===//

static bool hasReduction(linalg::LinalgOp loops) { return loops.getNumReductionLoops() > 0; }

/// The operands of `loops` with their maps.
static SmallVector<std::pair<Value, AffineMap>> operandsOf(linalg::LinalgOp loops) {
  SmallVector<std::pair<Value, AffineMap>> all;
  for (auto [operand, map] : llvm::zip_equal(loops->getOperands(), loops.getIndexingMapsArray()))
    all.emplace_back(operand, map);
  return all;
}

bool LinalgNodes::isFlat(linalg::LinalgOp loops, Shape &shape) {
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

RankedTensorType LinalgNodes::typeOf(Value inside) {
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

FailureOr<LinalgNodes::Shape> LinalgNodes::extentsOf(linalg::LinalgOp loops) {
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

Value LinalgNodes::indexOf(int64_t dim) {
  if (dim >= int64_t(extents.size()))
    return {};
  SmallVector<int64_t> shape(extents.size() - dim, 1);
  shape.front() = extents[dim];
  Builder builder(nodes.getBuilder().getContext());
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  // Few numbers are a constant, many are computed.
  constexpr int64_t kMostListed = 8192;
  if (extents[dim] <= kMostListed)
    return reshapeTo(nodes.indices(llvm::to_vector(llvm::seq<int64_t>(extents[dim]))), shape);
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

/// The values of `expr` for all values of `loops`, row by row; none if one is not an index of
/// `extent` elements, or if they are too many for a constant.
static std::optional<SmallVector<int64_t>> evaluate(AffineExpr expr, ArrayRef<int64_t> loops,
                                                    ArrayRef<int64_t> extents, int64_t extent) {
  constexpr int64_t kMostValues = int64_t(1) << 20;
  SmallVector<int64_t> values;
  SmallVector<AffineExpr> point(extents.size(), getAffineConstantExpr(0, expr.getContext()));
  int64_t count = 1;
  for (int64_t loop : loops) {
    count *= extents[loop];
    if (count > kMostValues)
      return std::nullopt;
  }
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    for (int64_t loop : llvm::reverse(loops)) {
      point[loop] = getAffineConstantExpr(rest % extents[loop], expr.getContext());
      rest /= extents[loop];
    }
    auto value = dyn_cast<AffineConstantExpr>(expr.replaceDims(point));
    if (!value || value.getValue() < 0 || value.getValue() >= extent)
      return std::nullopt;
    values.push_back(value.getValue());
  }
  return values;
}

LinalgNodes::Read LinalgNodes::read(Value tensor, AffineMap map) {
  return read(tensor, map.getResults());
}

/// `tensor` as `indices` read it: a Gather where an index is not simply a loop.
LinalgNodes::Read LinalgNodes::read(Value tensor, ArrayRef<AffineExpr> indices) {
  Read read{tensor, {}};
  for (AffineExpr expr : indices) {
    auto dim = dyn_cast_if_present<AffineDimExpr>(expr);
    read.loops.push_back(dim ? int64_t(dim.getPosition()) : expr ? -1 : -2);
  }
  for (int64_t axis = indices.size(); axis-- > 0;) {
    AffineExpr expr = indices[axis];
    if (!expr)
      continue;
    RankedTensorType type = tensorType(read.tensor);
    SmallVector<int64_t> loops = loopsOf(expr);
    if (isa<AffineDimExpr>(expr)) {
      if (extents[loops.front()] > type.getDimSize(axis))
        return {};
      read.tensor = slice(read.tensor, axis, 0, extents[loops.front()]);
      continue;
    }
    if (loops.empty()) { // one element, whose dimension stays
      auto at = dyn_cast<AffineConstantExpr>(expr);
      if (!at || at.getValue() < 0 || at.getValue() >= type.getDimSize(axis))
        return {};
      read.tensor = slice(read.tensor, axis, at.getValue(), 1);
      continue;
    }
    SmallVector<int64_t> shape(type.getShape()), indexShape;
    for (int64_t loop : loops)
      indexShape.push_back(extents[loop]);
    std::optional<SmallVector<int64_t>> values =
        evaluate(expr, loops, extents, type.getDimSize(axis));
    if (!values)
      return {};
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, indexShape.begin(), indexShape.end());
    Value at = reshapeTo(nodes.indices(*values), indexShape);
    read.tensor =
        nodes.create(op::Gather, type.clone(shape), {read.tensor, at}, nodes.attr("axis", axis))
            .getResult(0);
    read.loops.erase(read.loops.begin() + axis);
    read.loops.insert(read.loops.begin() + axis, loops.begin(), loops.end());
  }
  return read;
}

/// Whether the dimensions of `read` are the last ones of loops of `rank`, or have one element.
static bool isAligned(ArrayRef<int64_t> loops, ArrayRef<int64_t> shape, int64_t rank) {
  int64_t leading = rank - int64_t(loops.size());
  for (auto [dim, loop] : llvm::enumerate(loops))
    if (leading < 0 || (shape[dim] != 1 && loop != int64_t(dim) + leading))
      return false;
  return true;
}

/// The tensor of `read` with a dimension for each loop, or one that broadcasts so.
Value LinalgNodes::align(Read read, int64_t rank) {
  if (isAligned(read.loops, tensorType(read.tensor).getShape(), rank))
    return read.tensor;
  SmallVector<int64_t> loops, shape;
  for (auto [loop, extent] : llvm::zip_equal(read.loops, tensorType(read.tensor).getShape()))
    if (loop >= 0) {
      loops.push_back(loop);
      shape.push_back(extent);
    }
  Value value = read.tensor;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(loops.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return loops[a] < loops[b]; });
  if (!llvm::is_sorted(loops))
    value = nodes.transpose(reshapeTo(value, shape), order);
  llvm::sort(loops);
  if (std::adjacent_find(loops.begin(), loops.end()) != loops.end())
    return {}; // a diagonal
  SmallVector<int64_t> aligned(loops.empty() ? 0 : rank - loops.front(), 1);
  for (auto [loop, at] : llvm::zip_equal(loops, order))
    aligned[loop - loops.front()] = shape[at];
  return reshapeTo(value, aligned);
}

LogicalResult LinalgNodes::bindOperands(linalg::LinalgOp loops, bool isFlat) {
  Block &body = *loops.getBlock();
  for (auto [index, entry] : llvm::enumerate(operandsOf(loops))) {
    BlockArgument argument = body.getArgument(index);
    bool isInitial = int64_t(index) >= loops.getNumDpsInputs();
    if (argument.use_empty() || (isInitial && hasReduction(loops)))
      continue;
    auto [operand, map] = entry;
    Value outside = translate(operand);
    if (outside && !isFlat && isa<RankedTensorType>(operand.getType())) {
      Read found = read(outside, map);
      outside = found.tensor ? align(found, loops.getNumLoops()) : Value();
    }
    if (!outside)
      return failure();
    known[argument] = outside;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// `value`, whose dimensions are those of `dims`, with the dimensions of `map`: one element where
/// that has a constant.
Value LinalgNodes::finish(Value value, AffineMap map, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape, order, result;
  for (int64_t dim : dims)
    shape.push_back(extents[dim]);
  for (AffineExpr expr : map.getResults()) {
    if (isa<AffineConstantExpr>(expr)) {
      result.push_back(1);
      continue;
    }
    auto dim = dyn_cast<AffineDimExpr>(expr);
    const auto *at = dim ? llvm::find(dims, int64_t(dim.getPosition())) : dims.end();
    if (at == dims.end())
      return {};
    result.push_back(extents[*at]);
    order.push_back(at - dims.begin());
  }
  if (order.size() != dims.size())
    return {};
  return reshapeTo(transposeTo(expandTo(value, shape), order), result);
}

LogicalResult LinalgNodes::translateParallel(linalg::LinalgOp loops, bool isFlat) {
  if (failed(bindOperands(loops, isFlat)))
    return failure();
  Block &body = *loops.getBlock();
  auto all = llvm::to_vector(llvm::seq<int64_t>(extents.size()));
  SmallVector<Value> results;
  for (auto [index, result] : llvm::enumerate(loops->getResults())) {
    Value value = translate(body.getTerminator()->getOperand(index));
    AffineMap map = loops.getMatchingIndexingMap(loops.getDpsInitOperand(index));
    if (value)
      value = isFlat ? nodes.expand(value, extents) : finish(value, map, all);
    if (!value)
      return failure();
    results.push_back(value);
  }
  if (failed(translateAsserts(body)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(loops->getResults(), results))
    known[result] = guarded(value);
  return success();
}

LogicalResult LinalgNodes::translateLoops(linalg::LinalgOp loops) {
  if (auto fill = dyn_cast<linalg::FillOp>(*loops))
    if (auto type = dyn_cast<RankedTensorType>(fill->getResult(0).getType());
        type && type.hasStaticShape()) {
      Value filled = translateFill(fill.getInputs().front(), type);
      known[fill->getResult(0)] = filled;
      return success(bool(filled));
    }
  // Bodies are translated recursively.
  constexpr size_t kLongestBody = 1000;
  if (loops.getBlock()->getOperations().size() > kLongestBody)
    return failure();
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
  if (!hasReduction(loops))
    return translateParallel(loops, flat);
  if (hasWindows(loops)) {
    Value windows = convolution(loops);
    if (windows) {
      known[loops->getResult(0)] = windows;
      return success();
    }
    // A gather of all windows takes much memory.
    if (form == Form::Exact)
      return failure();
  }
  SmallVector<std::pair<Value, Value>> results;
  for (auto [index, result] : llvm::enumerate(loops->getResults())) {
    if (form == Form::Exact && result.use_empty())
      continue;
    Value value = reduce(loops, index);
    if (!value)
      return failure();
    results.emplace_back(result, value);
  }
  if (failed(translateAsserts(*loops.getBlock())))
    return failure();
  for (auto [result, value] : results)
    known[result] = guarded(value);
  return success();
}

} // namespace zero
