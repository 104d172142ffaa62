//===- Cast.cpp -----------------------------------------------------------===//
//
// ONNX: Cast, CastLike, between floats, integers and booleans.
// To boolean is `!= 0`, to integer truncates. Gradient, between
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

namespace {
/// The element types of a cast; `IntegerType`s say their sign.
struct Types {
  Type from, to;
};
} // namespace

/// Converts through 64 bits, so that values that do not fit wrap around as in numpy.
static Value castToInteger(ImplicitLocOpBuilder &b, Value value, Types types) {
  auto to = cast<IntegerType>(types.to);
  Type signless = b.getIntegerType(to.getWidth());
  if (isa<FloatType>(types.from)) {
    if (to.isUnsigned() && to.getWidth() == 64)
      return arith::FPToUIOp::create(b, signless, value);
    Value wide = arith::FPToSIOp::create(b, b.getI64Type(), value);
    return to.getWidth() == 64 ? wide : arith::TruncIOp::create(b, signless, wide).getResult();
  }
  unsigned width = types.from.getIntOrFloatBitWidth();
  if (width == to.getWidth())
    return value;
  if (width > to.getWidth())
    return arith::TruncIOp::create(b, signless, value);
  if (width == 1 || types.from.isUnsignedInteger())
    return arith::ExtUIOp::create(b, signless, value);
  return arith::ExtSIOp::create(b, signless, value);
}

static Value castElement(ImplicitLocOpBuilder &b, Value value, Types types) {
  if (types.from == types.to)
    return value;
  if (types.to.isInteger(1))
    return castToBool(b, value);
  auto floating = dyn_cast<FloatType>(types.to);
  if (!floating)
    return castToInteger(b, value, types);
  if (isa<FloatType>(types.from))
    return castBetweenFloats(b, value, floating);
  if (types.from.isInteger(1) || types.from.isUnsignedInteger())
    return arith::UIToFPOp::create(b, floating, value);
  return arith::SIToFPOp::create(b, floating, value);
}

static LogicalResult lowerCast(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  Types types{tensorType(node.getInputs()[0]).getElementType(),
              tensorType(node.getOutputs()[0]).getElementType()};
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(elementwise(b, inputs.front(), node.outputType(0),
                                        [&](ImplicitLocOpBuilder &s, ValueRange elements) {
                                          return castElement(s, elements[0], types);
                                        }));
  return success();
}

static int64_t evaluateCast(evaluate::Element &e) {
  if (e.to.isBool())
    return e.from.isFloat() ? e.asDouble(0) != 0 : e.x[0] != 0;
  return evaluate::convert(e.from, e.to, e.x[0], e.exact);
}

static LogicalResult castGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (wanted.front() && outputGrads.front() && isFloat(node.getOutputs().front()))
    inputGrads.front() = builder.cast(outputGrads.front(), node.inputType(0).getElementType());
  return success();
}

static LogicalResult expandCastLike(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  Type element = tensorType(node.getOutputs()[0]).getElementType();
  results.push_back(builder.cast(node.getInputs()[0], element));
  return success();
}

void registerCast() {
  const evaluate::Evaluator evaluator{.element = evaluateCast, .reads = 1, .converts = true};
  OpDef cast{op::Cast, 7, kNewestOpset, Kind::Elementwise, lowerCast, castGradient};
  cast.narrow = Narrow::Round;
  cast.linear = Linear::InFirst;
  registerAnySign(cast.computing(Function::Convert).evaluatedBy(evaluator));
  // Only the type of the second operand matters, and the result has it, too.
  registerAnySign(
      OpDef{op::CastLike, 15, kNewestOpset, Kind::Elementwise, nullptr, nullptr, expandCastLike}
          .computing(Function::Convert)
          .operand(1, OperandRole::Setting)
          .evaluatedBy(evaluator));
}

} // namespace zero::ops
