//===- Lowering.cpp - common functions of lowerings -----------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero::ops {

static TypedAttr numberAttr(Type type, double value) {
  Builder builder(type.getContext());
  if (isa<FloatType>(type))
    return builder.getFloatAttr(type, value);
  return builder.getIntegerAttr(type, int64_t(value));
}

Value constant(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, numberAttr(type, value));
}

Value empty(ImplicitLocOpBuilder &b, RankedTensorType type) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
}

static Value filledWith(ImplicitLocOpBuilder &b, RankedTensorType type, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b, value);
  return linalg::FillOp::create(b, scalar, empty(b, type)).getResult(0);
}

Value filled(ImplicitLocOpBuilder &b, RankedTensorType type, double value) {
  return filledWith(b, type, numberAttr(type.getElementType(), value));
}

TypedAttr splatOf(Value value) {
  DenseElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return nullptr;
  return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

std::optional<double> splatNumber(Value value) {
  TypedAttr splat = splatOf(value);
  if (auto number = dyn_cast_or_null<FloatAttr>(splat))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_or_null<IntegerAttr>(splat))
    return double(number.getValue().getSExtValue());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  DenseIntElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  return llvm::map_to_vector(elements.getValues<APInt>(),
                             [](const APInt &element) { return element.getSExtValue(); });
}

AffineMap broadcastMap(RankedTensorType from, RankedTensorType to) {
  MLIRContext *context = to.getContext();
  int64_t shift = to.getRank() - from.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    bool stretched = from.getDimSize(dim) == 1 && to.getDimSize(shift + dim) != 1;
    exprs.push_back(stretched ? getAffineConstantExpr(0, context)
                              : getAffineDimExpr(shift + dim, context));
  }
  return AffineMap::get(to.getRank(), 0, exprs, context);
}

AffineMap withoutAxes(MLIRContext *context, int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(axes, dim))
      exprs.push_back(getAffineDimExpr(dim, context));
  return AffineMap::get(rank, 0, exprs, context);
}

RankedTensorType withoutAxes(RankedTensorType type, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(axes, int64_t(dim)))
      shape.push_back(extent);
  return type.clone(shape);
}

namespace {
/// The operands of a generic op: constants of equal elements become scalars of
/// its body, so that they can fold there.
struct Operands {
  Operands(ValueRange operands, ArrayRef<AffineMap> maps, RankedTensorType space, bool keepFirst) {
    for (auto [index, operand] : llvm::enumerate(operands)) {
      scalars.push_back(keepFirst && index == 0 ? nullptr : splatOf(operand));
      if (scalars.back())
        continue;
      AffineMap map = index < maps.size() ? maps[index] : AffineMap();
      values.push_back(operand);
      this->maps.push_back(map ? map : broadcastMap(tensorType(operand), space));
    }
  }

  /// One scalar for each operand, from the arguments of the body.
  SmallVector<Value> elements(ImplicitLocOpBuilder &b, ValueRange arguments) const {
    SmallVector<Value> elements;
    auto argument = arguments.begin();
    for (TypedAttr scalar : scalars)
      elements.push_back(scalar ? arith::ConstantOp::create(b, scalar).getResult() : *argument++);
    return elements;
  }

  SmallVector<TypedAttr> scalars;
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
};
} // namespace

Value elementwise(ImplicitLocOpBuilder &b, ValueRange operands, ArrayRef<AffineMap> maps,
                  RankedTensorType result, Body body) {
  Operands read(operands, maps, result, /*keepFirst=*/false);
  read.maps.push_back(AffineMap::getMultiDimIdentityMap(result.getRank(), b.getContext()));
  SmallVector<utils::IteratorType> loops(result.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange(result), read.values, ValueRange(empty(b, result)), read.maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder scalar(loc, inner);
        linalg::YieldOp::create(scalar, body(scalar, read.elements(scalar, arguments)));
      });
  return generic.getResult(0);
}

Value elementwise(ImplicitLocOpBuilder &b, ValueRange operands, RankedTensorType result,
                  Body body) {
  return elementwise(b, operands, {}, result, body);
}

/// The neutral element of `combine`.
static TypedAttr neutral(Combine combine, Type type) {
  Builder builder(type.getContext());
  bool takesLeast = combine == Combine::Max || combine == Combine::UnsignedMax;
  if (combine == Combine::Sum || combine == Combine::Product)
    return numberAttr(type, combine == Combine::Sum ? 0 : 1);
  if (auto floating = dyn_cast<FloatType>(type))
    return builder.getFloatAttr(
        type, APFloat::getInf(floating.getFloatSemantics(), /*Negative=*/takesLeast));
  unsigned width = type.getIntOrFloatBitWidth();
  if (combine == Combine::UnsignedMax || combine == Combine::UnsignedMin)
    return builder.getIntegerAttr(type,
                                  takesLeast ? APInt::getZero(width) : APInt::getAllOnes(width));
  return builder.getIntegerAttr(type, takesLeast ? APInt::getSignedMinValue(width)
                                                 : APInt::getSignedMaxValue(width));
}

Value combined(ImplicitLocOpBuilder &b, Combine combine, Value a, Value x, bool reassoc) {
  auto flags = reassoc ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
  bool floating = isa<FloatType>(x.getType());
  switch (combine) {
  case Combine::Sum:
    return floating ? arith::AddFOp::create(b, a, x, flags).getResult()
                    : arith::AddIOp::create(b, a, x).getResult();
  case Combine::Product:
    return floating ? arith::MulFOp::create(b, a, x, flags).getResult()
                    : arith::MulIOp::create(b, a, x).getResult();
  case Combine::Max:
    return floating ? arith::MaximumFOp::create(b, a, x, flags).getResult()
                    : arith::MaxSIOp::create(b, a, x).getResult();
  case Combine::Min:
    return floating ? arith::MinimumFOp::create(b, a, x, flags).getResult()
                    : arith::MinSIOp::create(b, a, x).getResult();
  case Combine::UnsignedMax:
    return arith::MaxUIOp::create(b, a, x);
  case Combine::UnsignedMin:
    return arith::MinUIOp::create(b, a, x);
  }
  llvm_unreachable("every way to combine is above");
}

Value reduce(ImplicitLocOpBuilder &b, ValueRange operands, ArrayRef<AffineMap> maps,
             RankedTensorType space, ArrayRef<int64_t> axes, Combine combine, Body body) {
  RankedTensorType result = withoutAxes(space, axes);
  Value init = filledWith(b, result, neutral(combine, result.getElementType()));
  // The loops take their extents from the first operand, so it stays one.
  Operands read(operands, maps, space, /*keepFirst=*/true);
  read.maps.push_back(withoutAxes(b.getContext(), space.getRank(), axes));
  SmallVector<utils::IteratorType> loops(space.getRank(), utils::IteratorType::parallel);
  for (int64_t axis : axes)
    loops[axis] = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      b, TypeRange(result), read.values, ValueRange(init), read.maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder scalar(loc, inner);
        Value element = body(scalar, read.elements(scalar, arguments));
        linalg::YieldOp::create(scalar, combined(scalar, combine, arguments.back(), element,
                                                 /*reassoc=*/true));
      });
  return generic.getResult(0);
}

Value reduce(ImplicitLocOpBuilder &b, Value operand, ArrayRef<int64_t> axes, Combine combine) {
  return reduce(b, operand, {}, tensorType(operand), axes, combine,
                [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

Value reshaped(ImplicitLocOpBuilder &b, Value value, RankedTensorType type) {
  RankedTensorType from = tensorType(value);
  type = type.clone(from.getElementType());
  if (from.getShape() == type.getShape())
    return value;
  // Without elements there is nothing to keep, and groups need not exist.
  if (type.getNumElements() == 0)
    return empty(b, type);
  if (auto groups = getReassociationIndicesForReshape(from, type)) {
    if (from.getRank() > type.getRank())
      return tensor::CollapseShapeOp::create(b, type, value, *groups);
    return tensor::ExpandShapeOp::create(b, type, value, *groups);
  }
  auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  return reshaped(b, reshaped(b, value, flat), type);
}

void registerRuntimeOp(StringRef name, ExpandFn expand, StringRef domain) {
  const int64_t newest = domain.empty() ? kNewestOpset : 1;
  registerOp({{domain, name}, 1, newest, Kind::Other, nullptr, nullptr, expand});
}

void addResults(onnx::NodeOp node, ArrayRef<Value> values, NodeBuilder &builder,
                SmallVectorImpl<Value> &results) {
  for (auto [result, value] : llvm::zip(node.getOutputs(), values))
    results.push_back(isa<NoneType>(result.getType()) ? builder.none() : value);
}

LogicalResult zeros(onnx::NodeOp node, NodeBuilder &builder, SmallVectorImpl<Value> &results) {
  results.push_back(builder.splat(0, node.outputType(0)));
  return success();
}

LogicalResult firstOperand(onnx::NodeOp node, NodeBuilder &, SmallVectorImpl<Value> &results) {
  results.push_back(node.getInputs()[0]);
  return success();
}

bool isUnsigned(onnx::NodeOp node, unsigned index) {
  return tensorType(node.getInputs()[index]).getElementType().isUnsignedInteger();
}

Combine forSign(onnx::NodeOp node, unsigned index, Combine combine) {
  bool isBool = node.inputType(index).getElementType().isInteger(1);
  if (!isBool && !isUnsigned(node, index))
    return combine;
  if (combine == Combine::Max)
    return Combine::UnsignedMax;
  return combine == Combine::Min ? Combine::UnsignedMin : combine;
}

LogicalResult requireFloat(onnx::NodeOp node) {
  if (isa<FloatType>(node.inputType(0).getElementType()))
    return success();
  return node.emitError() << "expected floating-point numbers in " << node.describe() << ", got "
                          << node.getInputs()[0].getType();
}

bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

} // namespace zero::ops
