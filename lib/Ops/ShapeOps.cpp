//===- ShapeOps.cpp - operators that static shapes fold -------------------===//
//
// ONNX: Shape, Size, ConstantOfShape, Range. Result types are
// static, so Shape and Size are constants, and of ConstantOfShape and Range
// only the values are left to compute. The gradient of a Range of floats is that of its lowering.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerShape(onnx::NodeOp node, ValueRange, OpBuilder &builder,
                                Lowered &lowered) {
  ArrayRef<int64_t> shape = node.inputType(0).getShape();
  int64_t rank = shape.size();
  auto bound = [&](StringRef name, int64_t fallback) {
    return std::clamp<int64_t>(normalAxis(node.getInt(name, fallback), rank), 0, rank);
  };
  int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  auto value = builder.getI64TensorAttr(shape.slice(start, end - start));
  lowered.results.push_back(arith::ConstantOp::create(builder, node.getLoc(), value));
  return success();
}

static LogicalResult lowerSize(onnx::NodeOp node, ValueRange, OpBuilder &builder,
                               Lowered &lowered) {
  auto value = DenseElementsAttr::get(node.outputType(0), node.inputType(0).getNumElements());
  lowered.results.push_back(arith::ConstantOp::create(builder, node.getLoc(), value));
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

void registerShapeOps() {
  registerAnySign(OpDef{{"", "Shape"}, 7, kNewestOpset, Kind::Other, lowerShape}.piecewise());
  registerAnySign(OpDef{{"", "Size"}, 7, kNewestOpset, Kind::Other, lowerSize}.piecewise());
  registerOp(
      OpDef{op::ConstantOfShape, 9, kNewestOpset, Kind::Other, lowerConstantOfShape}.piecewise());
  registerOp({op::Range, 11, kNewestOpset, Kind::Other, lowerRange});
}

} // namespace zero::ops
