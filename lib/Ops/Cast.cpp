//===- Cast.cpp -----------------------------------------------------------===//
//
// ONNX: Cast, CastLike; opsets 13 to 23, between floats, signless integers and
// booleans. To boolean is `!= 0`, to integer truncates. Gradient, between
// floats: the cast back.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

static Value castToBool(ImplicitLocOpBuilder &b, Value value) {
  Value zero = constant(b, value.getType(), 0);
  if (isa<FloatType>(value.getType()))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
}

static Value castBetweenFloats(ImplicitLocOpBuilder &b, Value value, FloatType to) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  if (from < to.getWidth())
    return arith::ExtFOp::create(b, to, value);
  if (from > to.getWidth())
    return arith::TruncFOp::create(b, to, value);
  // f16 and bf16 have the same width: each fits into f32.
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), value);
  return arith::TruncFOp::create(b, to, wide);
}

static Value castElement(ImplicitLocOpBuilder &b, Value value, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (to.isInteger(1))
    return castToBool(b, value);
  bool fromBool = from.isInteger(1);
  if (auto floating = dyn_cast<FloatType>(to)) {
    if (isa<FloatType>(from))
      return castBetweenFloats(b, value, floating);
    return fromBool ? arith::UIToFPOp::create(b, to, value).getResult()
                    : arith::SIToFPOp::create(b, to, value).getResult();
  }
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, to, value);
  if (fromBool)
    return arith::ExtUIOp::create(b, to, value);
  return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
             ? arith::ExtSIOp::create(b, to, value).getResult()
             : arith::TruncIOp::create(b, to, value).getResult();
}

static bool isCastable(Type type) { return isa<FloatType>(type) || type.isSignlessInteger(); }

static LogicalResult lowerCast(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  Type from = node.inputType(0).getElementType();
  Type to = node.outputType(0).getElementType();
  if (!isCastable(from) || !isCastable(to))
    return nodeError(node) << "a cast from " << from << " to " << to << " is not supported yet";
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(elementwise(b, inputs.front(), node.outputType(0),
                                        [&](ImplicitLocOpBuilder &s, ValueRange elements) {
                                          return castElement(s, elements[0], to);
                                        }));
  return success();
}

static LogicalResult castGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (wanted.front() && outputGrads.front() && isFloat(node.getOutputs().front()))
    inputGrads.front() = builder.cast(outputGrads.front(), node.inputType(0).getElementType());
  return success();
}

void registerCast() {
  registerOp({"", "Cast", 13, 23, Kind::Elementwise, lowerCast, castGradient});
  registerOp({"", "CastLike", 15, 23, Kind::Elementwise, lowerCast, castGradient});
}

} // namespace zero::ops
