//===- Emitter.cpp - nodes that rules are written in ----------------------===//

#include "Emitter.h"

#include "dialects/Onnx/ElementTypes.h"
#include "zero/Ops/Evaluate.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero::hlo {

// The first opset of ONNX with all operators that rules use.
static constexpr int64_t kNewerOpset = 26;

bool areDims(ArrayRef<int64_t> values, int64_t rank) {
  SmallVector<bool> seen(rank, false);
  for (int64_t value : values) {
    if (value < 0 || value >= rank || seen[value])
      return false;
    seen[value] = true;
  }
  return true;
}

SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> without) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(without, dim))
      dims.push_back(dim);
  return dims;
}

SmallVector<int64_t> sizesOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> all(a);
  llvm::append_range(all, b);
  return all;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> Emitter::intsOf(Value value) const {
  DenseElementsAttr elements = constantOf(value);
  // Longer ones are not worth being known.
  constexpr int64_t kMostNumbers = int64_t(1) << 16;
  if (!elements || !isa<IntegerType>(elements.getElementType()) ||
      elements.getNumElements() > kMostNumbers)
    return std::nullopt;
  const evaluate::Values values = ops::valuesOf(elements);
  return llvm::map_to_vector(llvm::seq(elements.getNumElements()),
                             [&](int64_t i) { return values.at(i); });
}

std::optional<double> Emitter::splatOf(Value value) const {
  DenseElementsAttr elements = constantOf(value);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  const evaluate::Values values = ops::valuesOf(elements);
  return evaluate::toDouble(values.type, values.elements.front());
}

Value Emitter::constant(DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  Value value;
  if (elements.isSplat() && type.getRank() > 0) {
    auto single = DenseElementsAttr::get(type.clone(ArrayRef<int64_t>()),
                                         elements.getSplatValue<Attribute>());
    value = expand(constant(single), type.getShape());
    // A tensor of one element has another shape still.
    value = reshape(value, type.getShape());
  } else {
    value = arith::ConstantOp::create(getBuilder(), getLoc(), elements);
  }
  constants[value] = elements;
  return value;
}

Value Emitter::integers(RankedTensorType type, ArrayRef<int64_t> values) {
  auto integer = cast<IntegerType>(type.getElementType());
  auto numbers = llvm::map_to_vector(values, [&](int64_t value) {
    return APInt(integer.getWidth(), value, /*isSigned=*/true, /*implicitTrunc=*/true);
  });
  Value value =
      arith::ConstantOp::create(getBuilder(), getLoc(), DenseElementsAttr::get(type, numbers));
  constants[value] = DenseElementsAttr::get(type, numbers);
  return value;
}

Value Emitter::knownIndices(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), getBuilder().getI64Type());
  return integers(type, values);
}

Value Emitter::number(double value, Type element) {
  auto type = RankedTensorType::get({}, element);
  if (isa<IntegerType>(element))
    return integers(type, int64_t(value));
  auto elements = DenseElementsAttr::get(type, getBuilder().getFloatAttr(element, value));
  return constant(elements);
}

Value Emitter::line(int64_t rank, int64_t axis, int64_t extent) {
  // A longer line is computed by the step instead of stored.
  constexpr int64_t kMostStored = 8192;
  Type i64 = getBuilder().getI64Type();
  SmallVector<int64_t> alone(rank, 1);
  alone[axis] = extent;
  if (extent <= kMostStored)
    return integers(RankedTensorType::get(alone, i64), llvm::to_vector(llvm::seq<int64_t>(extent)));
  Value range = one(op::Range, RankedTensorType::get(extent, i64),
                    {number(0, i64), number(double(extent), i64), number(1, i64)});
  return reshape(range, alone);
}

Value Emitter::iota(ArrayRef<int64_t> shape, int64_t axis) {
  return expand(line(shape.size(), axis, shape[axis]), shape);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Value Emitter::newer(onnx::Operator type, Type result, ValueRange inputs,
                     ArrayRef<NamedAttribute> attrs) {
  onnx::NodeOp node = create(type, result, inputs, attrs);
  node.setOpset(kNewerOpset);
  return node.getResult(0);
}

Value Emitter::reshaped(Value value, ArrayRef<int64_t> shape) {
  if (std::optional<SmallVector<int64_t>> known = intsOf(value))
    return integers(tensorType(value).clone(shape), *known);
  for (auto node = value.getDefiningOp<onnx::NodeOp>(); node && node.is(op::Reshape);
       node = value.getDefiningOp<onnx::NodeOp>())
    value = node.getInputs().front();
  return reshape(value, shape);
}

Value Emitter::permuted(Value value, ArrayRef<int64_t> permutation) {
  if (isIdentityPermutation(permutation))
    return value;
  // Two transposes are one.
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (auto inner = node && node.is(op::Transpose) ? node.getInts("perm") : std::nullopt)
    return permuted(node.getInputs()[0], applyPermutation(*inner, permutation));
  // A dimension of one element may move past others without moving data.
  SmallVector<int64_t> before, after;
  ArrayRef<int64_t> shape = shapeOf(value);
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    if (shape[dim] != 1)
      before.push_back(dim);
    if (shape[permutation[dim]] != 1)
      after.push_back(permutation[dim]);
  }
  return before == after ? reshaped(value, sizesOf(shape, permutation))
                         : transpose(value, permutation);
}

Value Emitter::swapped(Value value) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(shapeOf(value).size()));
  std::swap(order.back(), order[order.size() - 2]);
  return permuted(value, order);
}

Value Emitter::slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                     ArrayRef<int64_t> steps) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> sizes(shape), axes, from, to, by;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    int64_t step = steps.empty() ? 1 : steps[dim];
    if (starts[dim] == 0 && limits[dim] == shape[dim] && step == 1)
      continue;
    sizes[dim] = llvm::divideCeil(std::max<int64_t>(limits[dim] - starts[dim], 0), step);
    axes.push_back(dim);
    from.push_back(starts[dim]);
    to.push_back(limits[dim]);
    by.push_back(step);
  }
  if (axes.empty())
    return value;
  return one(op::Slice, tensorType(value).clone(sizes),
             {value, indices(from), indices(to), indices(axes), indices(by)});
}

Value Emitter::sliceAxis(Value value, int64_t axis, int64_t start, int64_t limit) {
  SmallVector<int64_t> starts(shapeOf(value).size(), 0), limits(shapeOf(value));
  starts[axis] = start;
  limits[axis] = limit;
  return slice(value, starts, limits);
}

Value Emitter::reverse(Value value, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return value;
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (node && node.is(op::Slice) && node.getInputs().size() == 5 &&
      intsOf(node.getInputs()[1]) == SmallVector<int64_t>(axes.size(), -1) &&
      intsOf(node.getInputs()[3]) == SmallVector<int64_t>(axes))
    return node.getInputs()[0];
  SmallVector<int64_t> from(axes.size(), -1), by(axes.size(), -1);
  SmallVector<int64_t> to(axes.size(), std::numeric_limits<int64_t>::min());
  return one(op::Slice, value.getType(),
             {value, knownIndices(from), indices(to), knownIndices(axes), indices(by)});
}

Value Emitter::concat(ValueRange values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape(shapeOf(values.front()));
  shape[axis] = 0;
  for (Value value : values)
    shape[axis] += tensorType(value).getDimSize(axis);
  return one(op::Concat, tensorType(values.front()).clone(shape), values, attr("axis", axis));
}

Value Emitter::pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value fill) {
  SmallVector<int64_t> shape(shapeOf(value));
  bool changes = false;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    shape[dim] += low[dim] + high[dim];
    changes |= low[dim] != 0 || high[dim] != 0;
  }
  if (!changes)
    return value;
  return one(op::Pad, tensorType(value).clone(shape), {value, indices(joined(low, high)), fill});
}

Value Emitter::dilate(Value value, ArrayRef<int64_t> interior) {
  // SliceGrad, a gradient, knows neither booleans nor unsigned integers.
  if (Type element = elementOf(value); isBool(element))
    return cast(dilate(cast(value, getBuilder().getI32Type()), interior), element);
  else if (element.isUnsignedInteger())
    return bitcast(
        dilate(bitcast(value, getBuilder().getIntegerType(element.getIntOrFloatBitWidth())),
               interior),
        element);
  SmallVector<int64_t> shape(shapeOf(value)), axes, starts, steps;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim) {
    if (interior[dim] == 0 || shape[dim] < 2)
      continue;
    shape[dim] = (shape[dim] - 1) * (interior[dim] + 1) + 1;
    axes.push_back(dim);
    starts.push_back(0);
    steps.push_back(interior[dim] + 1);
  }
  if (axes.empty())
    return value;
  return one(own::SliceGrad, tensorType(value).clone(shape), value,
             {attr("starts", starts), attr("steps", steps), attr("axes", axes),
              attr("shape", ArrayRef<int64_t>(shape))});
}

Value Emitter::spread(Value value, ArrayRef<int64_t> interior, Value fill) {
  Value wide = dilate(value, interior);
  if (wide == value || splatOf(fill) == 0.0)
    return wide;
  Value ones = expand(number(1, getBuilder().getF32Type()), shapeOf(value));
  return where(cast(dilate(ones, interior), getBuilder().getI1Type()), wide, fill);
}

Value Emitter::gather(Value value, Value indices, int64_t axis) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> result(shape.take_front(axis));
  llvm::append_range(result, shapeOf(indices));
  llvm::append_range(result, shape.drop_front(axis + 1));
  return one(op::Gather, tensorType(value).clone(result), {value, indices}, attr("axis", axis));
}

Value Emitter::clip(Value value, int64_t low, int64_t high) {
  Type element = elementOf(value);
  auto integer = cast<IntegerType>(element);
  // A bound that the type cannot hold is none.
  const bool isUnsigned = integer.isUnsigned();
  const unsigned bits = integer.getWidth() - !isUnsigned;
  Value least = isUnsigned ? none() : integers(RankedTensorType::get({}, element), low);
  bool binds = bits >= 63 || high < (int64_t(1) << bits);
  Value most = binds ? integers(RankedTensorType::get({}, element), high) : none();
  return one({"", "Clip"}, value.getType(), {value, least, most});
}

Value Emitter::reduce(onnx::Operator type, Value value, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return value;
  auto shape = sizesOf(shapeOf(value), otherDims(shapeOf(value).size(), axes));
  return one(type, tensorType(value).clone(shape), {value, indices(axes)},
             attr("keepdims", int64_t(0)));
}

Value Emitter::bitcast(Value value, Type element) {
  if (elementOf(value) == element)
    return value;
  return newer(op::BitCast, tensorType(value).clone(element), value,
               attr("to", onnx::dataTypeOf(element)));
}

} // namespace zero::hlo
