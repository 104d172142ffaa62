//===- NodeBuilder.cpp - build onnx nodes with inferred types -------------===//

#include "zero/Ops/NodeBuilder.h"

#include "dialects/Onnx/ElementTypes.h"
#include "dialects/Onnx/Operators.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace zero {

// Nodes made here follow the newest opset of the table, and version 1 of the
// domain `zero`.
static constexpr int64_t kOnnxOpset = 23;
static constexpr int64_t kZeroOpset = 1;

RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The NumPy broadcast of two shapes that are known to fit.
static SmallVector<int64_t> broadcastShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> shape(a);
  size_t shift = a.size() - b.size();
  for (auto [index, extent] : llvm::enumerate(b))
    if (shape[shift + index] == 1)
      shape[shift + index] = extent;
  return shape;
}

onnx::NodeOp NodeBuilder::create(onnx::Operator type, TypeRange results, ValueRange inputs,
                                 ArrayRef<NamedAttribute> attrs) {
  int64_t opset = type.domain.empty() ? kOnnxOpset : kZeroOpset;
  return onnx::NodeOp::create(builder, loc, results, type.type, inputs,
                              builder.getDictionaryAttr(attrs), type.domain, opset, name);
}

static Value constantOf(OpBuilder &builder, Location loc, double value, RankedTensorType type) {
  Type element = type.getElementType();
  Attribute attr = isa<FloatType>(element)
                       ? cast<Attribute>(builder.getFloatAttr(element, value))
                       : cast<Attribute>(builder.getIntegerAttr(element, int64_t(value)));
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, attr));
}

/// `element`, or f32 where 16 bits would round `value`.
static Type exactType(double value, Type element) {
  auto floating = dyn_cast<FloatType>(element);
  if (!floating || floating.getWidth() != 16)
    return element;
  bool losesInfo = false;
  APFloat(value).convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return losesInfo ? Float32Type::get(element.getContext()) : element;
}

Value NodeBuilder::scalar(double value, Type like) {
  Type element = exactType(value, getElementTypeOrSelf(like));
  return constantOf(builder, loc, value, RankedTensorType::get({}, element));
}

Value NodeBuilder::splat(double value, RankedTensorType type) {
  return constantOf(builder, loc, value, type);
}

Value NodeBuilder::indices(ArrayRef<int64_t> values) {
  return arith::ConstantOp::create(builder, loc, builder.getI64TensorAttr(values));
}

Value NodeBuilder::none() { return onnx::NoneOp::create(builder, loc, builder.getNoneType()); }

Value NodeBuilder::add(Value a, Value b) { return binary(op::Add, a, b); }
Value NodeBuilder::sub(Value a, Value b) { return binary(op::Sub, a, b); }
Value NodeBuilder::mul(Value a, Value b) { return binary(op::Mul, a, b); }
Value NodeBuilder::div(Value a, Value b) { return binary(op::Div, a, b); }
Value NodeBuilder::neg(Value a) { return unary(op::Neg, a); }

Value NodeBuilder::unary(onnx::Operator type, Value a) {
  RankedTensorType result = tensorType(a);
  if (type == op::IsNaN || type == op::IsInf)
    result = result.clone(builder.getI1Type());
  return create(type, result, a).getResult(0);
}

static bool isComparison(onnx::Operator type) {
  return llvm::is_contained({op::Equal, op::Less, op::Greater, op::LessOrEqual, op::GreaterOrEqual},
                            type);
}

/// The element type of a result of `a` and `b`: the wider one of floats. A constant has the type of
/// the other.
static Type commonElement(Value a, Value b) {
  auto ofA = dyn_cast<FloatType>(tensorType(a).getElementType());
  auto ofB = dyn_cast<FloatType>(tensorType(b).getElementType());
  if (!ofA || !ofB)
    return tensorType(a).getElementType();
  bool constA = a.getDefiningOp<arith::ConstantOp>(), constB = b.getDefiningOp<arith::ConstantOp>();
  if (constA != constB)
    return constA ? ofB : ofA;
  return ofB.getWidth() > ofA.getWidth() ? ofB : ofA;
}

Value NodeBuilder::binary(onnx::Operator type, Value a, Value b) {
  Type element = isComparison(type) ? builder.getI1Type() : commonElement(a, b);
  auto shape = broadcastShape(tensorType(a).getShape(), tensorType(b).getShape());
  return create(type, RankedTensorType::get(shape, element), {a, b}).getResult(0);
}

Value NodeBuilder::where(Value condition, Value a, Value b) {
  auto shape = broadcastShape(tensorType(a).getShape(), tensorType(b).getShape());
  shape = broadcastShape(shape, tensorType(condition).getShape());
  auto type = RankedTensorType::get(shape, commonElement(a, b));
  return create(op::Where, type, {condition, a, b}).getResult(0);
}

Value NodeBuilder::cast(Value a, Type elementType) {
  RankedTensorType type = tensorType(a);
  if (type.getElementType() == elementType)
    return a;
  return create(op::Cast, type.clone(elementType), a, attr("to", onnx::dataTypeOf(elementType)))
      .getResult(0);
}

Value NodeBuilder::reduceTo(Value value, RankedTensorType type) {
  ArrayRef<int64_t> from = tensorType(value).getShape();
  int64_t leading = int64_t(from.size()) - type.getRank();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < int64_t(from.size()); ++axis)
    if (from[axis] != 1 && (axis < leading || type.getDimSize(axis - leading) == 1))
      axes.push_back(axis);
  Type element = type.getElementType();
  value = axes.empty() ? cast(value, element)
                       : sumOver(value, axes, /*keepdims=*/leading == 0, element);
  // Dimensions of one element need no sum; the reshape drops or keeps them.
  return reshape(value, type.getShape());
}

Value NodeBuilder::reduceSum(Value value, ArrayRef<int64_t> axes, bool keepdims) {
  return axes.empty() ? value : sumOver(value, axes, keepdims, tensorType(value).getElementType());
}

Value NodeBuilder::sumOver(Value value, ArrayRef<int64_t> axes, bool keepdims, Type element) {
  SmallVector<int64_t> shape;
  for (auto [axis, extent] : llvm::enumerate(tensorType(value).getShape())) {
    bool reduced = llvm::is_contained(axes, int64_t(axis));
    if (!reduced || keepdims)
      shape.push_back(reduced ? 1 : extent);
  }
  auto type = RankedTensorType::get(shape, element);
  return create(op::ReduceSum, type, {value, indices(axes)}, attr("keepdims", int64_t(keepdims)))
      .getResult(0);
}

Value NodeBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape)
    return value;
  // allowzero: the shape is meant as it is, also where a dimension is empty.
  return create(op::Reshape, type.clone(shape), {value, indices(shape)},
                attr("allowzero", int64_t(1)))
      .getResult(0);
}

Value NodeBuilder::expand(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> expanded = broadcastShape(type.getShape(), shape);
  if (type.getShape() == ArrayRef<int64_t>(expanded))
    return value;
  return create(op::Expand, type.clone(expanded), {value, indices(shape)}).getResult(0);
}

Value NodeBuilder::gather(Value value, Value indices, int64_t axis) {
  ArrayRef<int64_t> from = tensorType(value).getShape(), chosen = tensorType(indices).getShape();
  SmallVector<int64_t> shape(from.take_front(axis));
  llvm::append_range(shape, chosen);
  llvm::append_range(shape, from.drop_front(axis + 1));
  return create(op::Gather, tensorType(value).clone(shape), {value, indices}, attr("axis", axis))
      .getResult(0);
}

Value NodeBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  RankedTensorType type = tensorType(value);
  auto shape = llvm::map_to_vector(permutation, [&](int64_t dim) { return type.getDimSize(dim); });
  return create(op::Transpose, type.clone(shape), value, attr("perm", permutation)).getResult(0);
}

Value NodeBuilder::transposeLast(Value value) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(tensorType(value).getRank()));
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return transpose(value, permutation);
}

/// The shape of numpy.matmul: a vector counts as a row on the left and as a
/// column on the right, and that dimension is left out of the result.
static SmallVector<int64_t> matmulShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto batch = [](ArrayRef<int64_t> shape) {
    return shape.drop_back(std::min<size_t>(shape.size(), 2));
  };
  SmallVector<int64_t> shape = broadcastShape(batch(a), batch(b));
  if (a.size() > 1)
    shape.push_back(a[a.size() - 2]);
  if (b.size() > 1)
    shape.push_back(b.back());
  return shape;
}

Value NodeBuilder::matmul(Value a, Value b) {
  auto shape = matmulShape(tensorType(a).getShape(), tensorType(b).getShape());
  return create(op::MatMul, tensorType(a).clone(shape), {a, b}).getResult(0);
}

Value NodeBuilder::softmax(Value value, int64_t axis) {
  return create(op::Softmax, value.getType(), value, attr("axis", axis)).getResult(0);
}

NamedAttribute NodeBuilder::attr(StringRef name, int64_t value) {
  return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
}

NamedAttribute NodeBuilder::attr(StringRef name, double value) {
  return builder.getNamedAttr(name, builder.getF32FloatAttr(float(value)));
}

NamedAttribute NodeBuilder::attr(StringRef name, StringRef value) {
  return builder.getNamedAttr(name, builder.getStringAttr(value));
}

NamedAttribute NodeBuilder::attr(StringRef name, ArrayRef<int64_t> values) {
  return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
}

Value NodeBuilder::programInput(StringRef binding, Type elementType) {
  auto step = cast<func::FuncOp>(builder.getInsertionBlock()->getParentOp());
  for (BlockArgument argument : step.getArguments())
    if (auto name = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kBindingAttr);
        name && name == binding)
      return argument;
  unsigned index = step.getNumArguments();
  auto attrs =
      builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, builder.getStringAttr(binding)));
  (void)step.insertArgument(index, RankedTensorType::get({}, elementType), attrs, loc);
  return step.getArgument(index);
}

} // namespace zero
