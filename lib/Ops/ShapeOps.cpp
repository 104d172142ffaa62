//===- ShapeOps.cpp - operators that static shapes fold -------------------===//
//
// ONNX: Shape, Size, ConstantOfShape, Range. Result types are
// static, so Shape and Size are constants, and of ConstantOfShape and Range
// only the values are left to compute. The gradient of a Range of floats is that of its lowering.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "zero/Ops/Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

/// Shape and Size, which are known.
static LogicalResult lowerKnown(onnx::NodeOp node, ValueRange, OpBuilder &builder,
                                Lowered &lowered) {
  bool exact = true;
  auto known = evaluateNode(node, DenseElementsAttr(), exact);
  lowered.results.push_back(arith::ConstantOp::create(builder, node.getLoc(), known.front()));
  return success();
}

static LogicalResult lowerConstantOfShape(onnx::NodeOp node, ValueRange, OpBuilder &builder,
                                          Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value scalar;
  if (auto value = node.getAttrs().getAs<DenseElementsAttr>("value"))
    scalar = arith::ConstantOp::create(b, cast<TypedAttr>(*value.value_begin<Attribute>()));
  else
    scalar = constant(b, node.outputType(0).getElementType(), 0);
  lowered.results.push_back(
      linalg::FillOp::create(b, scalar, empty(b, node.outputType(0))).getResult(0));
  return success();
}

static LogicalResult lowerRange(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto scalar = RankedTensorType::get({}, node.inputType(0).getElementType());
  Value start = reshaped(b, inputs[0], scalar), step = reshaped(b, inputs[2], scalar);
  auto next = [&](ImplicitLocOpBuilder &s, ValueRange elements) -> Value {
    Value index = linalg::IndexOp::create(s, 0);
    Value count = arith::IndexCastOp::create(s, s.getI64Type(), index);
    Type type = elements[0].getType();
    if (isa<FloatType>(type)) {
      Value factor = arith::SIToFPOp::create(s, type, count);
      return arith::AddFOp::create(s, elements[0], arith::MulFOp::create(s, factor, elements[1]));
    }
    if (type.getIntOrFloatBitWidth() < 64)
      count = arith::TruncIOp::create(s, type, count);
    return arith::AddIOp::create(s, elements[0], arith::MulIOp::create(s, count, elements[1]));
  };
  lowered.results.push_back(elementwise(b, {start, step}, node.outputType(0), next));
  return success();
}

static bool evaluateShape(evaluate::Node &node) {
  const ArrayRef<int64_t> shape = node.inputs[0]->dims;
  const int64_t rank = shape.size();
  auto bound = [&](StringRef name, int64_t fallback) {
    return std::clamp<int64_t>(normalAxis(node.getInt(name, fallback), rank), 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  llvm::append_range(node.results[0].elements, shape.slice(start, end - start));
  return true;
}

static bool evaluateSize(evaluate::Node &node) {
  node.results[0].elements.push_back(evaluate::countOf(node.inputs[0]->dims));
  return true;
}

static bool evaluateConstantOfShape(evaluate::Node &node) {
  auto value = node.attribute("value");
  const bool given = value && value->values && !value->values->elements.empty();
  node.results[0].elements.assign(evaluate::countOf(node.results[0].dims),
                                  given ? value->values->elements.front() : 0);
  return true;
}

static int64_t evaluateRange(evaluate::Element &range) {
  return range.result(range.asWide(0) + evaluate::Wide(range.index[0]) * range.asWide(2));
}

void registerShapeOps() {
  auto add = [](OpDef def, evaluate::Evaluator evaluator) {
    registerAnySign(def.piecewise().evaluatedBy(evaluator));
  };
  add({{"", "Shape"}, 7, kNewestOpset, Kind::Other, lowerKnown},
      {.whole = evaluateShape, .readsShapes = true});
  add({{"", "Size"}, 7, kNewestOpset, Kind::Other, lowerKnown},
      {.whole = evaluateSize, .readsShapes = true});
  registerOp(OpDef{op::ConstantOfShape, 9, kNewestOpset, Kind::Other, lowerConstantOfShape}
                 .piecewise()
                 .evaluatedBy({.whole = evaluateConstantOfShape}));
  registerOp(OpDef{op::Range, 11, kNewestOpset, Kind::Other, lowerRange}.evaluatedBy(
      {.element = evaluateRange, .floats = false, .readsIndex = true}));
}

} // namespace zero::ops
