//===- LinalgTensors.cpp - ops on whole tensors as nodes ------------------===//

#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {

// Constants up to this size are reshaped at compile time.
static constexpr int64_t kMostFolded = 8192;

Value LinalgNodes::unsupportedAt(Operation *op) {
  if (!unsupported)
    unsupported = op;
  return {};
}

//===----------------------------------------------------------------------===//
// Nodes that constants need not
//===----------------------------------------------------------------------===//

/// The elements of a constant that is small or a splat.
static DenseElementsAttr elementsOf(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  return elements.isSplat() || elements.getNumElements() <= kMostFolded ? elements
                                                                        : DenseElementsAttr();
}

Value LinalgNodes::reshapeTo(Value value, ArrayRef<int64_t> shape) {
  if (tensorType(value).getShape() == shape)
    return value;
  if (DenseElementsAttr elements = elementsOf(value))
    return arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(),
                                     elements.reshape(tensorType(value).clone(shape)));
  // One reshape after another is one reshape.
  if (auto view = value.getDefiningOp<onnx::NodeOp>();
      form == Form::Exact && view && view.is(op::Reshape))
    value = view.getInputs()[0];
  return nodes.reshape(value, shape);
}

Value LinalgNodes::expandTo(Value value, ArrayRef<int64_t> shape) {
  Value expanded = nodes.expand(value, shape);
  DenseElementsAttr elements = elementsOf(value);
  if (expanded == value || !elements || !elements.isSplat())
    return expanded;
  auto type = tensorType(expanded);
  expanded.getDefiningOp()->erase();
  return arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(), elements.resizeSplat(type));
}

Value LinalgNodes::transposeTo(Value value, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? value : nodes.transpose(value, permutation);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `number` rounded as `op` rounds it; upstream folds only what is exact.
static TypedAttr truncated(arith::TruncFOp op, Attribute number) {
  auto value = dyn_cast<FloatAttr>(number);
  auto type = dyn_cast<FloatType>(op.getType());
  if (!value || !type || op.getRoundingmode())
    return {};
  APFloat rounded = value.getValue();
  bool losesInfo = false;
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return FloatAttr::get(type, rounded);
}

/// The number that `op` computes from constants, or null.
TypedAttr LinalgNodes::foldScalar(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      op->getNumOperands() == 0 || isa<ShapedType>(op->getResult(0).getType()))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute attr = folded.lookup(operand);
    if (!attr && !matchPattern(operand, m_Constant(&attr)) && operand.getDefiningOp())
      attr = foldScalar(operand.getDefiningOp());
    if (!attr)
      return {};
    operands.push_back(attr);
  }
  SmallVector<OpFoldResult> results;
  TypedAttr number;
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    number = truncated(truncation, operands.front());
  else if (succeeded(op->fold(operands, results)) && results.size() == 1)
    number = dyn_cast_if_present<TypedAttr>(dyn_cast_if_present<Attribute>(results.front()));
  if (number)
    folded[op->getResult(0)] = number;
  return number;
}

Value LinalgNodes::translate(Value inside) {
  if (Value outside = known.lookup(inside))
    return outside;
  if (given)
    if (Value outside = (*given)(inside))
      return outside;
  Operation *op = inside.getDefiningOp();
  if (!op)
    return {};
  Value outside;
  if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
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

FailureOr<SmallVector<Value>> LinalgNodes::translateResults(Operation *op) {
  SmallVector<Value> results;
  if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
    if (failed(translateLoops(loops)))
      return failure();
    for (Value result : op->getResults())
      results.push_back(known.lookup(result));
    return results;
  }
  results.push_back(translateOp(op));
  if (!results.front())
    return failure();
  return results;
}

static bool isStatic(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.hasStaticShape();
}

/// An op of arith or math, on scalars or on tensors.
Value LinalgNodes::translateElements(Operation *op) {
  if (TypedAttr number = foldScalar(op))
    return scalars.constant(number);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(translate(operand));
    if (!operands.back())
      return {};
  }
  return scalars.emit(op, operands);
}

Value LinalgNodes::translateOp(Operation *op) {
  if (op->getNumResults() != 1)
    return {};
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && isa<TensorType>(constant.getType()))
    return nodes.getBuilder().clone(*op)->getResult(0);
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return translateElements(op);
  if (auto insert = dyn_cast<tensor::InsertOp>(op); insert && insert.getIndices().empty())
    return translate(insert.getScalar());
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (type)
      type = typeOf(dim.getSource());
    if (!index || !type || *index >= type.getRank() || type.isDynamicDim(*index))
      return {};
    return scalars.integer(type.getDimSize(*index), nodes.getBuilder().getI64Type());
  }
  Value outside = llvm::TypeSwitch<Operation *, Value>(op)
                      .Case([&](tensor::ExtractOp extract) { return translateExtract(extract); })
                      .Case([&](tensor::FromElementsOp list) { return translateList(list); })
                      .Case([&](tensor::CastOp cast) { return translate(cast.getSource()); })
                      .Case([&](linalg::IndexOp index) { return indexOf(index.getDim()); })
                      .Default([](Operation *) { return Value(); });
  if (outside || !isStatic(op))
    return outside;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tensor::ExtractSliceOp slice) { return translateSlice(slice); })
      .Case([&](tensor::InsertSliceOp insert) { return translateInsertSlice(insert); })
      .Case([&](tensor::InsertOp insert) { return translateInsert(insert); })
      .Case([&](tensor::PadOp pad) { return translatePad(pad); })
      .Case([&](tensor::GenerateOp generate) { return translateGenerate(generate); })
      .Case([&](linalg::SoftmaxOp softmax) { return translateSoftmax(softmax); })
      .Case([&](tensor::SplatOp splat) { return translateFill(splat.getInput(), splat.getType()); })
      .Default([&](Operation *) { return translateView(op); });
}

/// Ops that change the shape or the order of elements.
Value LinalgNodes::translateView(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<tensor::EmptyOp>(op)) // any value
    return nodes.splat(0, type.clone(elementFor(type)));
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(op)) {
    Value source = translate(op->getOperand(0));
    return source ? reshapeTo(source, type.getShape()) : Value();
  }
  if (auto parts = dyn_cast<tensor::ConcatOp>(op)) {
    SmallVector<Value> inputs;
    for (Value input : parts.getInputs()) {
      inputs.push_back(translate(input));
      if (!inputs.back())
        return {};
    }
    return concat(inputs, int64_t(parts.getDim()));
  }
  return {};
}

Value LinalgNodes::translateFill(Value scalar, RankedTensorType type) {
  Attribute attr;
  if (matchPattern(scalar, m_Constant(&attr)) && !type.getElementType().isIndex())
    return arith::ConstantOp::create(nodes.getBuilder(), nodes.getLoc(),
                                     DenseElementsAttr::get(type, attr));
  Value outside = translate(scalar);
  return outside ? nodes.expand(outside, type.getShape()) : Value();
}

Value LinalgNodes::translateSoftmax(linalg::SoftmaxOp op) {
  Value input = translate(op.getInput());
  return input ? nodes.softmax(input, int64_t(op.getDimension())) : Value();
}

/// A tensor whose elements are computed from their indices.
Value LinalgNodes::translateGenerate(tensor::GenerateOp op) {
  Shape outer = extents;
  llvm::scope_exit restore([&] { extents = outer; });
  extents = Shape(op.getType().getShape());
  Block &body = op.getBody().front();
  for (BlockArgument index : body.getArguments())
    bind(index, indexOf(index.getArgNumber()));
  Value element = translate(body.getTerminator()->getOperand(0));
  return element ? expandTo(element, extents) : Value();
}

/// A tensor of given elements.
Value LinalgNodes::translateList(tensor::FromElementsOp op) {
  auto type = op.getType();
  SmallVector<Value> elements;
  for (Value operand : op.getElements()) {
    Value element = translate(operand);
    if (!element)
      return {};
    elements.push_back(nodes.reshape(element, {1}));
  }
  if (elements.empty())
    return {};
  return reshapeTo(concat(elements, 0), type.getShape());
}

} // namespace zero
