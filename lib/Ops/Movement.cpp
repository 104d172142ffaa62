//===- Movement.cpp - common functions of data movement -------------------===//

#include "Movement.h"
#include "Scatter.h"
#include "zero/Ops/CallAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace zero::ops {

InFlightDiagnostic nodeError(onnx::NodeOp node) {
  // Not emitOpError: users know the node's name, not that of the op holding it.
  InFlightDiagnostic diagnostic = mlir::emitError(node.getLoc());
  diagnostic << node.describe() << ": ";
  return diagnostic;
}

FailureOr<SmallVector<int64_t>> requireInts(onnx::NodeOp node, unsigned index, StringRef what) {
  if (auto ints = constantInts(node.getInputs()[index]))
    return *ints;
  return nodeError(node) << "expected '" << what << "' to be a constant";
}

int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Window Window::all(ArrayRef<int64_t> shape) {
  size_t rank = shape.size();
  return {SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(shape), SmallVector<int64_t>(rank, 1),
          SmallVector<bool>(rank, false)};
}

void Window::set(int64_t dim, int64_t start, int64_t step, int64_t count) {
  reversed[dim] = step < 0 && count > 1;
  offsets[dim] = reversed[dim] ? start + (count - 1) * step : start;
  sizes[dim] = count;
  strides[dim] = count > 1 ? std::abs(step) : 1;
}

/// Reverses the dimensions that `window` reads from the end.
static Value turned(ImplicitLocOpBuilder &b, Value value, const Window &window) {
  if (!llvm::is_contained(window.reversed, true))
    return value;
  RankedTensorType type = tensorType(value);
  SmallVector<AffineExpr> exprs;
  for (auto [dim, reversed] : llvm::enumerate(window.reversed)) {
    AffineExpr index = b.getAffineDimExpr(dim);
    exprs.push_back(reversed ? window.sizes[dim] - 1 - index : index);
  }
  auto map = AffineMap::get(type.getRank(), 0, exprs, b.getContext());
  return elementwise(b, value, map, type,
                     [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

static SmallVector<OpFoldResult> asFolded(ImplicitLocOpBuilder &b, ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(b.getContext(), values);
}

Value cut(ImplicitLocOpBuilder &b, Value value, const Window &window) {
  RankedTensorType type = tensorType(value).clone(window.sizes);
  // An empty window may begin where the tensor ends, which a slice must not.
  if (type.getNumElements() == 0)
    return empty(b, type);
  Value part =
      tensor::ExtractSliceOp::create(b, type, value, asFolded(b, window.offsets),
                                     asFolded(b, window.sizes), asFolded(b, window.strides));
  return turned(b, part, window);
}

Value put(ImplicitLocOpBuilder &b, Value value, Value into, const Window &window) {
  if (tensorType(value).getNumElements() == 0)
    return into;
  return tensor::InsertSliceOp::create(b, turned(b, value, window), into,
                                       asFolded(b, window.offsets), asFolded(b, window.sizes),
                                       asFolded(b, window.strides));
}

Value sliceNode(NodeBuilder &builder, Value value, int64_t axis, int64_t start, int64_t end) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  shape[axis] = end - start;
  return builder
      .create(op::Slice, tensorType(value).clone(shape),
              {value, builder.indices(start), builder.indices(end), builder.indices(axis)})
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value boundedIndex(ImplicitLocOpBuilder &b, Value index, int64_t extent) {
  if (index.getType().getIntOrFloatBitWidth() < 64)
    index = arith::ExtSIOp::create(b, b.getI64Type(), index);
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)).getResult();
  };
  Value zero = number(0);
  Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, zero);
  Value wrapped = arith::AddIOp::create(b, index, number(extent));
  Value chosen = arith::SelectOp::create(b, negative, wrapped, index);
  Value atLeast = arith::MaxSIOp::create(b, chosen, zero);
  Value bounded = arith::MinSIOp::create(b, atLeast, number(extent - 1));
  return arith::IndexCastOp::create(b, b.getIndexType(), bounded);
}

/// The operand that `op` only gives another shape; null for other ops.
static Value viewed(Operation *op) {
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return op->getOperand(0);
  auto node = dyn_cast_or_null<onnx::NodeOp>(op);
  const OpDef *def = node ? lookup(node) : nullptr;
  return def && def->kind == Kind::View ? node.getInputs().front() : Value();
}

/// How messages call the operand: the model's name of an input where it is one.
static std::string describeOperand(onnx::NodeOp node, unsigned operand) {
  Value value = node.getInputs()[operand];
  while (Value source = viewed(value.getDefiningOp()))
    value = source;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    auto name = function
                    ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "zero.binding")
                    : StringAttr();
    if (name)
      return ("input '" + name.getValue() + "'").str();
  }
  return "operand " + std::to_string(operand);
}

/// The smallest and the largest element of `indices`, as tensor<2xi64>.
static Value rangeOf(ImplicitLocOpBuilder &b, Value indices) {
  auto wide = tensorType(indices).clone(b.getI64Type());
  if (wide != indices.getType())
    indices = elementwise(b, indices, wide, [](ImplicitLocOpBuilder &s, ValueRange elements) {
      return arith::ExtSIOp::create(s, s.getI64Type(), elements[0]).getResult();
    });
  auto axes = llvm::to_vector(llvm::seq<int64_t>(wide.getRank()));
  Value pair = empty(b, RankedTensorType::get({2}, b.getI64Type()));
  for (auto [position, combine] : llvm::enumerate(std::array{Combine::Min, Combine::Max})) {
    Value bound = reduce(b, indices, axes, combine);
    Value scalar = tensor::ExtractOp::create(b, bound, ValueRange());
    Value at = arith::ConstantIndexOp::create(b, position);
    pair = tensor::InsertOp::create(b, scalar, pair, at);
  }
  return pair;
}

LogicalResult checkIndices(onnx::NodeOp node, unsigned operand, Value indices, int64_t extent,
                           ImplicitLocOpBuilder &b, Lowered &lowered,
                           std::pair<int64_t, int64_t> part) {
  const int64_t least = node.getInt(kLeastIndex, -extent);
  std::string range = "[" + std::to_string(least) + ", " + std::to_string(extent - 1) + "]";
  if (auto known = constantInts(node.getInputs()[operand])) {
    for (size_t i = part.first; i < known->size(); i += part.second)
      if ((*known)[i] < least || (*known)[i] >= extent)
        return nodeError(node) << "expected indices in " << range << ", got " << (*known)[i];
    return success();
  }
  if (tensorType(indices).getNumElements() == 0)
    return success();
  lowered.checks.push_back({rangeOf(b, indices), least, extent - 1,
                            node.describe() + ": an index in " + describeOperand(node, operand) +
                                " lies outside " + range});
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

Value forEachIndex(ImplicitLocOpBuilder &b, ArrayRef<int64_t> extents, Value carried,
                   NestBody body) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> uppers;
  for (int64_t extent : extents)
    uppers.push_back(arith::ConstantIndexOp::create(b, extent));
  SmallVector<Value> lowers(extents.size(), zero), steps(extents.size(), one);
  auto nest = scf::buildLoopNest(
      b, b.getLoc(), lowers, uppers, steps, carried,
      [&](OpBuilder &inner, Location loc, ValueRange point, ValueRange carriedIn) {
        ImplicitLocOpBuilder scalar(loc, inner);
        return scf::ValueVector{body(scalar, point, carriedIn.front())};
      });
  return nest.results.front();
}

namespace {
/// One row of a [blocks, rows, inner] tensor.
struct Row {
  Row(ImplicitLocOpBuilder &b, Value block, Value row, int64_t inner)
      : offsets{block, row, b.getIndexAttr(0)},
        sizes{b.getIndexAttr(1), b.getIndexAttr(1), b.getIndexAttr(inner)},
        strides(3, b.getIndexAttr(1)) {}

  Value load(ImplicitLocOpBuilder &b, Value tensor) {
    auto type = RankedTensorType::get({tensorType(tensor).getDimSize(2)},
                                      tensorType(tensor).getElementType());
    return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes, strides);
  }

  Value store(ImplicitLocOpBuilder &b, Value row, Value tensor) {
    return tensor::InsertSliceOp::create(b, row, tensor, offsets, sizes, strides);
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// `a` combined with `x`, written over `a`; 16-bit floats in `x` are extended. Where
/// `counts` is false, `x` is taken for zeros.
static Value combinedInPlace(ImplicitLocOpBuilder &b, Combine combine, Value a, Value x,
                             Value counts) {
  auto identity = b.getMultiDimIdentityMap(tensorType(a).getRank());
  SmallVector<utils::IteratorType> loops(tensorType(a).getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(a.getType()), x, a, ArrayRef<AffineMap>{identity, identity}, loops,
      [&](OpBuilder &inner, Location loc, ValueRange elements) {
        ImplicitLocOpBuilder scalar(loc, inner);
        Value element = elements[0];
        if (element.getType() != elements[1].getType())
          element = arith::ExtFOp::create(scalar, elements[1].getType(), element);
        if (counts)
          element = arith::SelectOp::create(scalar, counts, element,
                                            constant(scalar, element.getType(), 0));
        linalg::YieldOp::create(scalar, combined(scalar, combine, elements[1], element));
      });
  return generic.getResult(0);
}

static Value scatter(ImplicitLocOpBuilder &b, Value into, Value updates,
                     std::optional<Combine> combine, RowIndex rowIndex, RowCounts rowCounts) {
  ArrayRef<int64_t> shape = tensorType(updates).getShape();
  int64_t inner = shape[2];
  return forEachIndex(b, shape.drop_back(), into,
                      [&](ImplicitLocOpBuilder &b, ValueRange ivs, Value carried) {
                        Row target(b, ivs[0], rowIndex(b, ivs[0], ivs[1]), inner);
                        Value row = Row(b, ivs[0], ivs[1], inner).load(b, updates);
                        Value counts = rowCounts ? rowCounts(b, ivs[1]) : Value();
                        if (combine)
                          row = combinedInPlace(b, *combine, target.load(b, carried), row, counts);
                        return target.store(b, row, carried);
                      });
}

Value scatterRows(ImplicitLocOpBuilder &b, Value into, Value updates,
                  std::optional<Combine> combine, RowIndex rowIndex) {
  return scatter(b, into, updates, combine, rowIndex, nullptr);
}

Value addRows(ImplicitLocOpBuilder &b, Value into, Value updates, RowIndex rowIndex,
              RowCounts rowCounts) {
  return scatter(b, into, updates, Combine::Sum, rowIndex, rowCounts);
}

Value addAtTuples(NodeBuilder &nodes, Value into, Value indices, Value updates) {
  Value tuples = nodes.cast(indices, nodes.getBuilder().getI64Type());
  return nodes
      .create(op::ScatterND, into.getType(), {into, tuples, updates},
              nodes.attr("reduction", "add"))
      .getResult(0);
}

Value addAtElements(NodeBuilder &nodes, Value into, Value indices, Value updates, int64_t axis) {
  return nodes
      .create(op::ScatterElements, into.getType(), {into, indices, updates},
              {nodes.attr("axis", axis), nodes.attr("reduction", "add")})
      .getResult(0);
}

} // namespace zero::ops
