//===- KernelNodes.cpp - tensors of kernels as nodes ----------------------===//
//
// The ops on tensors; the loops are in LoopNodes.cpp.
//
//===----------------------------------------------------------------------===//

#include "KernelNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {

Value KernelNodes::unsupportedAt(Operation *op) {
  if (!unsupported)
    unsupported = op;
  return {};
}

Value KernelNodes::reshapeTo(Value value, ArrayRef<int64_t> shape) {
  return nodes.reshape(value, shape);
}

Value KernelNodes::translate(Value inside) {
  if (Value outside = known.lookup(inside))
    return outside;
  Operation *op = inside.getDefiningOp();
  if (!op)
    return {};
  Value outside;
  if (auto loops = dyn_cast<linalg::GenericOp>(op)) {
    if (succeeded(translateLoops(loops)))
      outside = known.lookup(inside);
  } else {
    outside = translateOp(op);
  }
  if (!outside)
    return unsupportedAt(op);
  known[inside] = outside;
  return outside;
}

static bool isStatic(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.hasStaticShape();
}

Value KernelNodes::translateOp(Operation *op) {
  if (isa<tensor::ExtractOp>(op))
    return translateExtract(op);
  if (isa<tensor::FromElementsOp>(op))
    return translateList(op);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return translate(cast.getSource());
  if (auto insert = dyn_cast<tensor::InsertOp>(op); insert && insert.getIndices().empty())
    return translate(insert.getScalar());
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return indexOf(index.getDim());
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && isa<TensorType>(constant.getType()))
    return nodes.getBuilder().clone(*op)->getResult(0);
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(translate(operand));
      if (!operands.back())
        return {};
    }
    return scalars.emit(op, operands);
  }
  if (!isStatic(op))
    return {};
  if (isa<linalg::FillOp>(op))
    return translateFill(op);
  if (isa<tensor::ExtractSliceOp>(op))
    return translateSlice(op);
  if (isa<tensor::InsertSliceOp>(op))
    return translateInsertSlice(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<tensor::EmptyOp>(op)) // any value
    return nodes.splat(0, type.clone(elementFor(type)));
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    Value source = translate(op->getOperand(0));
    return source ? reshapeTo(source, type.getShape()) : Value();
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    Value source = translate(transpose.getInput());
    return source ? nodes.transpose(source, transpose.getPermutation()) : Value();
  }
  return {};
}

/// The number that `value` is in all elements, or null.
static TypedAttr splatOf(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  Attribute attr;
  if (!fill || !matchPattern(fill.getInputs().front(), m_Constant(&attr)))
    return {};
  return cast<TypedAttr>(attr);
}

Value KernelNodes::translateFill(Operation *op) {
  auto fill = cast<linalg::FillOp>(op);
  auto type = cast<RankedTensorType>(fill.getResult(0).getType());
  if (TypedAttr splat = splatOf(fill.getResult(0)))
    return arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(),
                                     DenseElementsAttr::get(type, Attribute(splat)));
  Value scalar = translate(fill.getInputs().front());
  return scalar ? nodes.expand(scalar, type.getShape()) : Value();
}

/// The element at computed indices: a GatherND of index tuples.
Value KernelNodes::translateExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  Value tensor = translate(extract.getTensor());
  if (!tensor || extract.getIndices().empty())
    return tensor;
  if (int64_t(extract.getIndices().size()) != tensorType(tensor).getRank())
    return {};
  SmallVector<Value> indices;
  SmallVector<int64_t> shape;
  for (Value index : extract.getIndices()) {
    indices.push_back(translate(index));
    if (!indices.back())
      return {};
  }
  // Their common shape.
  Type i64 = nodes.getBuilder().getI64Type();
  for (Value index : indices) {
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
  SmallVector<int64_t> tuple(shape), tuples(shape);
  tuple.push_back(1);
  tuples.push_back(indices.size());
  for (Value &index : indices)
    index = nodes.reshape(nodes.expand(index, shape), tuple);
  Value all = indices.front();
  if (indices.size() > 1)
    all = nodes
              .create(op::Concat, RankedTensorType::get(tuples, i64), indices,
                      nodes.attr("axis", int64_t(shape.size())))
              .getResult(0);
  Value element =
      nodes.create(op::GatherND, tensorType(tensor).clone(shape), {tensor, all}).getResult(0);
  return isScalar ? nodes.reshape(element, {}) : element;
}

/// A tensor of given elements.
Value KernelNodes::translateList(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> elements;
  for (Value operand : op->getOperands()) {
    Value element = translate(operand);
    if (!element)
      return {};
    elements.push_back(nodes.reshape(element, {1}));
  }
  if (elements.empty())
    return {};
  Value list = elements.front();
  if (elements.size() > 1)
    list = nodes
               .create(op::Concat, type.clone({int64_t(elements.size())}), elements,
                       nodes.attr("axis", int64_t(0)))
               .getResult(0);
  return nodes.reshape(list, type.getShape());
}

Value KernelNodes::translateSlice(Operation *op) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  Value source = translate(slice.getSource());
  auto type = slice.getType();
  if (!source || type.getRank() != slice.getSourceType().getRank() ||
      ShapedType::isDynamicShape(slice.getStaticOffsets()))
    return {};
  SmallVector<int64_t> starts, ends, axes, steps;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t start = slice.getStaticOffset(dim), step = slice.getStaticStride(dim);
    if (type.getDimSize(dim) == tensorType(source).getDimSize(dim))
      continue;
    starts.push_back(start);
    ends.push_back(start + (type.getDimSize(dim) - 1) * step + 1);
    axes.push_back(dim);
    steps.push_back(step);
  }
  if (axes.empty())
    return source;
  return nodes
      .create(op::Slice, type,
              {source, nodes.indices(starts), nodes.indices(ends), nodes.indices(axes),
               nodes.indices(steps)})
      .getResult(0);
}

/// `value` in a tensor of `fill`, whose dimension `dim` has `extent`: its element i at offset + i
/// stride.
Value KernelNodes::spread(Value value, int64_t dim, int64_t extent, int64_t offset, int64_t stride,
                          TypedAttr fill) {
  RankedTensorType type = tensorType(value);
  const int64_t count = type.getDimSize(dim), rank = type.getRank();
  // One more element, of the fill, is at the end; an index for each element follows.
  int64_t before = stride == 1 ? offset : 0;
  int64_t after = stride == 1 ? extent - offset - count : 1;
  SmallVector<int64_t> pads(2 * rank, 0), shape(type.getShape());
  pads[dim] = before;
  pads[rank + dim] = after;
  shape[dim] = before + count + after;
  Value padded =
      nodes.create(op::Pad, type.clone(shape), {value, nodes.indices(pads), scalars.constant(fill)})
          .getResult(0);
  if (stride == 1)
    return padded;
  SmallVector<int64_t> at(extent, count);
  for (int64_t i = 0; i < count; ++i)
    at[offset + i * stride] = i;
  shape[dim] = extent;
  return nodes
      .create(op::Gather, type.clone(shape), {padded, nodes.indices(at)}, nodes.attr("axis", dim))
      .getResult(0);
}

Value KernelNodes::translateInsertSlice(Operation *op) {
  auto insert = cast<tensor::InsertSliceOp>(op);
  RankedTensorType type = insert.getType();
  TypedAttr fill = splatOf(insert.getDest());
  Value value = translate(insert.getSource());
  if (!fill || !value || insert.getSourceType().getRank() != type.getRank() ||
      ShapedType::isDynamicShape(insert.getStaticOffsets()))
    return {};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (tensorType(value).getDimSize(dim) != type.getDimSize(dim))
      value = spread(value, dim, type.getDimSize(dim), insert.getStaticOffset(dim),
                     insert.getStaticStride(dim), fill);
  return value;
}

} // namespace zero
