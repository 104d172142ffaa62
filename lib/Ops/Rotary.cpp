//===- Rotary.cpp - rotary position embedding -----------------------------===//
//
// zero::Rotary(x, cos, sin) {inverse}: with the last dimension in two halves,
//   y = x cos + half(x) sin, half(x1, x2) = (-x2, x1),
// cos and sin broadcasting to x (Su et al., arXiv 2104.09864). With inverse it is
// the transpose of that, which is the gradient:
//   dx = dy cos + half'(dy sin), half'(g1, g2) = (g2, -g1).
// Tables that are trained have gradients, too: dcos = dy x, dsin = dy half(x),
// summed to their shapes.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

/// `value` with its last dimension as two halves, or, of one element, as 1 x 1.
static Value inHalves(ImplicitLocOpBuilder &b, Value value) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  int64_t width = shape.pop_back_val();
  shape.append({width == 1 ? 1 : 2, width == 1 ? 1 : width / 2});
  return reshaped(b, value, tensorType(value).clone(shape));
}

/// `map` with the other half read.
static AffineMap otherHalf(AffineMap map) {
  SmallVector<AffineExpr> exprs(map.getResults());
  AffineExpr &half = exprs[exprs.size() - 2];
  if (isa<AffineDimExpr>(half))
    half = 1 - half;
  return AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}

static LogicalResult lowerRotary(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  bool inverse = node.getInt("inverse", 0);
  Value x = inHalves(b, inputs[0]), cosine = inHalves(b, inputs[1]), sine = inHalves(b, inputs[2]);
  RankedTensorType type = tensorType(x);
  AffineMap own = broadcastMap(type, type), table = broadcastMap(tensorType(sine), type);
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange v) -> Value {
    Value half = linalg::IndexOp::create(in, type.getRank() - 2);
    Value zero = arith::ConstantIndexOp::create(in, 0);
    auto negated = inverse ? arith::CmpIPredicate::ne : arith::CmpIPredicate::eq;
    Value turned = arith::MulFOp::create(in, v[1], v[3]);
    Value sign = arith::SelectOp::create(in, arith::CmpIOp::create(in, negated, half, zero),
                                         arith::NegFOp::create(in, turned), turned);
    return arith::AddFOp::create(in, arith::MulFOp::create(in, v[0], v[2]), sign);
  };
  Value rotated =
      elementwise(b, {x, x, cosine, sine},
                  {own, otherHalf(own), {}, inverse ? otherHalf(table) : table}, type, body);
  lowered.results.push_back(reshaped(b, rotated, node.outputType(0)));
  return success();
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0];
  int64_t inverse = node.getInt("inverse", 0);
  if (wanted[0])
    grads[0] =
        builder
            .create(own::Rotary, x.getType(), {dy[0], node.getInputs()[1], node.getInputs()[2]},
                    builder.attr("inverse", 1 - inverse))
            .getResult(0);
  if (wanted[1])
    grads[1] = builder.reduceTo(builder.mul(dy[0], x), node.inputType(1));
  if (!wanted[2])
    return success();
  if (inverse)
    return node.emitError() << "no gradient for the table of " << node.describe();
  // sin is multiplied with x rotated by a right angle.
  Value turned =
      builder
          .create(own::Rotary, x.getType(),
                  {x, builder.splat(0, node.inputType(1)), builder.splat(1, node.inputType(2))})
          .getResult(0);
  grads[2] = builder.reduceTo(builder.mul(dy[0], turned), node.inputType(2));
  return success();
}

/// All dimensions but the last, along which elements are rotated in pairs.
static Factors rotaryFactors(onnx::NodeOp node) {
  return FactorBuilder(node).addBroadcast(node.outputType(0).getRank() - 1).take();
}

void registerRotary() {
  registerOp(OpDef{own::Rotary, 1, 1, Kind::Rows, lowerRotary, gradient}.dividedBy(rotaryFactors));
}

} // namespace zero::ops
