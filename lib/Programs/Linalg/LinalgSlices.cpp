//===- LinalgSlices.cpp - parts of tensors as nodes -----------------------===//

#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {

/// The operands of `joined`, a Concat along `dim`, that are its elements [start, end); none if one
/// is cut.
static SmallVector<Value> partsOf(Value joined, int64_t dim, int64_t start, int64_t end) {
  auto node = joined.getDefiningOp<onnx::NodeOp>();
  SmallVector<Value> parts;
  if (!node || !node.is(op::Concat) || node.getInt("axis", 0) != dim)
    return parts;
  int64_t at = 0;
  for (Value part : node.getInputs()) {
    int64_t next = at + tensorType(part).getDimSize(dim);
    if (at >= start && next <= end)
      parts.push_back(part);
    else if (at < end && next > start)
      return {};
    at = next;
  }
  return parts;
}

Value LinalgNodes::slice(Value value, int64_t dim, int64_t start, int64_t count, int64_t step) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  if (start == 0 && count == shape[dim] && step == 1)
    return value;
  shape[dim] = count;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(),
                                     elements.resizeSplat(tensorType(value).clone(shape)));
  if (step == 1 && form == Form::Exact)
    if (auto parts = partsOf(value, dim, start, start + count); !parts.empty())
      return concat(parts, dim);
  return nodes
      .create(op::Slice, tensorType(value).clone(shape),
              {value, nodes.indices(start), nodes.indices(start + (count - 1) * step + 1),
               nodes.indices(dim), nodes.indices(step)})
      .getResult(0);
}

Value LinalgNodes::concat(ValueRange parts, int64_t dim) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<int64_t> shape(tensorType(parts.front()).getShape());
  shape[dim] = 0;
  for (Value part : parts)
    shape[dim] += tensorType(part).getDimSize(dim);
  return nodes
      .create(op::Concat, tensorType(parts.front()).clone(shape), parts, nodes.attr("axis", dim))
      .getResult(0);
}

/// Whether offsets, sizes and strides of `op` are known.
static bool isStaticPart(OffsetSizeAndStrideOpInterface op) {
  return !ShapedType::isDynamicShape(op.getStaticOffsets()) &&
         !ShapedType::isDynamicShape(op.getStaticSizes()) &&
         !ShapedType::isDynamicShape(op.getStaticStrides());
}

Value LinalgNodes::translateSlice(tensor::ExtractSliceOp op) {
  Value source = translate(op.getSource());
  if (!source || !isStaticPart(op))
    return {};
  SmallVector<int64_t> starts, ends, axes, steps, shape(op.getStaticSizes());
  for (auto [dim, size] : llvm::enumerate(op.getStaticSizes())) {
    int64_t start = op.getStaticOffset(dim), step = op.getStaticStride(dim);
    if (size == tensorType(source).getDimSize(dim))
      continue;
    if (size == 0 || step < 1)
      return {};
    starts.push_back(start);
    ends.push_back(start + (size - 1) * step + 1);
    axes.push_back(dim);
    steps.push_back(step);
  }
  if (!axes.empty())
    source = nodes
                 .create(op::Slice, op.getType().clone(shape),
                         {source, nodes.indices(starts), nodes.indices(ends), nodes.indices(axes),
                          nodes.indices(steps)})
                 .getResult(0);
  return reshapeTo(source, op.getType().getShape());
}

/// The number that `value` is in all elements, or null.
static TypedAttr splatOf(Value value) {
  Attribute attr;
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    if (matchPattern(fill.getInputs().front(), m_Constant(&attr)))
      return cast<TypedAttr>(attr);
    return {};
  }
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<TypedAttr>();
  return {};
}

/// `value` in a tensor of `fill`, whose dimension `dim` has `extent`: its element i at offset + i
/// stride.
Value LinalgNodes::spread(Value value, int64_t dim, int64_t extent, int64_t offset, int64_t stride,
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

/// `value` between what is before and after it, if it is whole in all dimensions but one.
Value LinalgNodes::insertBetween(Value value, Value into, tensor::InsertSliceOp insert) {
  ArrayRef<int64_t> from = tensorType(value).getShape(), to = tensorType(into).getShape();
  std::optional<int64_t> cut;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(from, to))) {
    if (std::get<0>(sizes) == std::get<1>(sizes))
      continue;
    if (cut || insert.getStaticStride(dim) != 1)
      return {};
    cut = dim;
  }
  if (!cut)
    return value;
  int64_t start = insert.getStaticOffset(*cut), end = start + from[*cut];
  SmallVector<Value> parts;
  auto keep = [&](int64_t from, int64_t until) {
    SmallVector<Value> whole = partsOf(into, *cut, from, until);
    llvm::append_range(parts, whole);
    if (whole.empty() && from < until)
      parts.push_back(slice(into, *cut, from, until - from));
  };
  keep(0, start);
  parts.push_back(value);
  keep(end, to[*cut]);
  return concat(parts, *cut);
}

/// Selects between `value`, spread over a tensor, and `into`, by the indices of each dimension.
Value LinalgNodes::insertByMask(Value value, Value into, tensor::InsertSliceOp insert) {
  RankedTensorType type = tensorType(into);
  Builder &builder = nodes.getBuilder();
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  Value mask;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t count = tensorType(value).getDimSize(dim), extent = type.getDimSize(dim);
    int64_t offset = insert.getStaticOffset(dim), stride = insert.getStaticStride(dim);
    if (count == extent)
      continue;
    value = spread(value, dim, extent, offset, stride, zero);
    SmallVector<bool> isInside(extent, false);
    for (int64_t i = 0; i < count; ++i)
      isInside[offset + i * stride] = true;
    SmallVector<int64_t> shape(type.getRank() - dim, 1);
    shape.front() = extent;
    Value inside = arith::ConstantOp::create(
        nodes.getBuilder(), nodes.getLoc(),
        DenseElementsAttr::get(RankedTensorType::get(shape, builder.getI1Type()), isInside));
    mask = mask ? nodes.binary(op::And, mask, inside) : inside;
  }
  return nodes.where(mask, value, into);
}

Value LinalgNodes::translateInsertSlice(tensor::InsertSliceOp insert) {
  RankedTensorType type = insert.getType();
  Value value = translate(insert.getSource());
  if (!value || !isStaticPart(insert) || !type.hasStaticShape() || type.getNumElements() == 0 ||
      tensorType(value).getNumElements() == 0)
    return {};
  value = reshapeTo(value, insert.getStaticSizes());
  if (tensorType(value).getShape() == type.getShape())
    return value;
  // Tensors are joined by insertions into one without content.
  bool isJoined = insert.getDest().getDefiningOp<tensor::EmptyOp>();
  if (TypedAttr fill = isJoined ? TypedAttr() : splatOf(insert.getDest())) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (tensorType(value).getDimSize(dim) != type.getDimSize(dim))
        value = spread(value, dim, type.getDimSize(dim), insert.getStaticOffset(dim),
                       insert.getStaticStride(dim), fill);
    return value;
  }
  Value into = translate(insert.getDest());
  if (!into)
    return {};
  Value between = insertBetween(value, into, insert);
  return between ? between : insertByMask(value, into, insert);
}

/// One element at constant indices, or at computed ones.
Value LinalgNodes::translateInsert(tensor::InsertOp insert) {
  Value into = translate(insert.getDest()), scalar = translate(insert.getScalar());
  if (!into || !scalar)
    return {};
  SmallVector<Value> indices;
  for (Value index : insert.getIndices()) {
    Value at = translate(index);
    if (!at || tensorType(at).getNumElements() != 1)
      return {};
    indices.push_back(reshapeTo(at, {1, 1}));
  }
  return nodes
      .create(op::ScatterND, into.getType(), {into, concat(indices, 1), reshapeTo(scalar, {1})})
      .getResult(0);
}

Value LinalgNodes::translatePad(tensor::PadOp pad) {
  Value source = translate(pad.getSource());
  Value element = pad.getConstantPaddingValue();
  if (!source || !element || ShapedType::isDynamicShape(pad.getStaticLow()) ||
      ShapedType::isDynamicShape(pad.getStaticHigh()))
    return {};
  SmallVector<int64_t> pads(pad.getStaticLow());
  llvm::append_range(pads, pad.getStaticHigh());
  if (llvm::all_of(pads, [](int64_t count) { return count == 0; }))
    return source;
  Value fill = translate(element);
  if (!fill)
    return {};
  return nodes
      .create(op::Pad, pad.getResultType(), {source, nodes.indices(pads), reshapeTo(fill, {})})
      .getResult(0);
}

} // namespace zero
