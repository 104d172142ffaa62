//===- MaskedSoftmax.cpp - attention's softmax with its masks -------------===//
//
// zero::MaskedSoftmax(scores, padding?, mask?) {scale, causal, offset, fill,
// guard}: along the last of the dimensions [batch, heads, queries, keys]
//   softmax(scale * scores + bias), where bias is the sum of
//   fill, unless a key is shown by all of
//     causal: key <= query + offset;
//     padding, a boolean per [batch or 1, keys];
//     mask, a boolean that broadcasts to the scores;
//   padding and mask themselves, where they are numbers instead.
// With guard a row of which all is minus infinity gives zeros; without, NaN as in
// Softmax. Whatever the mask, the step reads no more of it than its operands hold:
// causal is a comparison of loop variables.
//
// Gradient: zero::MaskedSoftmaxGrad(dy, y) {scale}: scale y (dy - sum(dy y)); only
// y is kept for backward. A number in a mask gets the same, summed to its shape.
// Where a row is all hidden by a finite fill, y is what the numbers say, and
// scores have a gradient as in any other row.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// One masked softmax under construction.
struct Masking {
  Masking(onnx::NodeOp node, OpBuilder &builder)
      : b(node.getLoc(), builder), type(node.outputType(0)), last(type.getRank() - 1),
        perRow(withoutAxes(b.getContext(), type.getRank(), last)), scale(node.getFloat("scale", 1)),
        fill(node.getFloat("fill", 0)), causal(node.getInt("causal", 0)),
        offset(node.getInt("offset", 0)), guard(node.getInt("guard", 0)) {}

  /// How `padding`, [batch or 1, keys], is read in the space of the scores.
  AffineMap paddingMap(RankedTensorType padding);
  /// The element of `score` under the masks' elements.
  Value element(ImplicitLocOpBuilder &in, Value score, ValueRange masks);
  /// Adds `fill` unless `shown`.
  Value hide(ImplicitLocOpBuilder &in, Value score, Value shown);
  /// Whether the key of this iteration comes before its query, or is at it.
  Value comesBefore(ImplicitLocOpBuilder &in);
  /// A pass over rows, given as full tensors and row values in turn.
  Value pass(ValueRange operands, Body body);

  ImplicitLocOpBuilder b;
  RankedTensorType type;
  int64_t last;
  AffineMap perRow;
  double scale, fill;
  bool causal;
  int64_t offset;
  bool guard;
};
} // namespace

static Value number(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

AffineMap Masking::paddingMap(RankedTensorType padding) {
  AffineExpr batch =
      padding.getDimSize(0) == 1 ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(0);
  return AffineMap::get(type.getRank(), 0, {batch, b.getAffineDimExpr(last)}, b.getContext());
}

Value Masking::comesBefore(ImplicitLocOpBuilder &in) {
  // As wide as a float, so that vectors of both have as many elements.
  Type narrow = in.getI32Type();
  Value key = arith::IndexCastOp::create(in, narrow, linalg::IndexOp::create(in, last));
  Value query = linalg::IndexOp::create(in, last - 1);
  if (offset)
    query = arith::AddIOp::create(in, query, arith::ConstantIndexOp::create(in, offset));
  query = arith::IndexCastOp::create(in, narrow, query);
  return arith::CmpIOp::create(in, arith::CmpIPredicate::sle, key, query);
}

Value Masking::hide(ImplicitLocOpBuilder &in, Value score, Value shown) {
  Type element = score.getType();
  Value bias =
      arith::SelectOp::create(in, shown, number(in, element, 0), number(in, element, fill));
  return arith::AddFOp::create(in, score, bias);
}

Value Masking::element(ImplicitLocOpBuilder &in, Value score, ValueRange masks) {
  Type element = score.getType();
  if (scale != 1)
    score = arith::MulFOp::create(in, score, number(in, element, scale));
  Value shown = causal ? comesBefore(in) : Value();
  for (Value mask : masks) {
    if (isa<FloatType>(mask.getType()))
      score = arith::AddFOp::create(in, score, mask);
    else
      shown = shown ? arith::AndIOp::create(in, shown, mask).getResult() : mask;
  }
  return shown ? hide(in, score, shown) : score;
}

Value Masking::pass(ValueRange operands, Body body) {
  return elementwise(b, operands, {{}, perRow}, type, body);
}

static LogicalResult lowerMaskedSoftmax(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                        Lowered &lowered) {
  Masking masking(node, builder);
  ImplicitLocOpBuilder &b = masking.b;
  SmallVector<Value> operands{inputs[0]};
  SmallVector<AffineMap> maps{{}};
  for (unsigned index = 1; index < inputs.size(); ++index)
    if (inputs[index]) {
      operands.push_back(inputs[index]);
      maps.push_back(index == 1 ? masking.paddingMap(node.inputType(1)) : AffineMap());
    }
  Value scores =
      elementwise(b, operands, maps, masking.type, [&](ImplicitLocOpBuilder &in, ValueRange x) {
        return masking.element(in, x[0], x.drop_front());
      });
  // Any shift gives the same; a row without a key takes one that leaves zeros.
  Value top = reduce(b, scores, masking.last, Combine::Max);
  Value powers = masking.pass({scores, top}, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value shift = x[1];
    if (masking.guard) {
      Value lowest = number(in, shift.getType(), -std::numeric_limits<double>::infinity());
      Value none = arith::CmpFOp::create(in, arith::CmpFPredicate::OEQ, shift, lowest);
      shift = arith::SelectOp::create(in, none, number(in, shift.getType(), 0), shift);
    }
    return math::ExpOp::create(in, arith::SubFOp::create(in, x[0], shift));
  });
  Value sum = reduce(b, powers, masking.last, Combine::Sum);
  lowered.results.push_back(
      masking.pass({powers, sum}, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
        Value divisor = x[1];
        if (masking.guard) {
          Value zero = number(in, divisor.getType(), 0), one = number(in, divisor.getType(), 1);
          Value none = arith::CmpFOp::create(in, arith::CmpFPredicate::OEQ, divisor, zero);
          divisor = arith::SelectOp::create(in, none, one, divisor);
        }
        return arith::DivFOp::create(in, x[0], divisor);
      }));
  return success();
}

static LogicalResult lowerGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  Masking masking(node, builder);
  ImplicitLocOpBuilder &b = masking.b;
  Value dot = reduce(b, inputs, {}, masking.type, masking.last, Combine::Sum,
                     [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                       return arith::MulFOp::create(in, x[0], x[1]);
                     });
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value centred = arith::SubFOp::create(in, x[0], x[2]);
    Value grad = arith::MulFOp::create(in, x[1], centred);
    if (masking.scale == 1)
      return grad;
    return arith::MulFOp::create(in, grad, number(in, grad.getType(), masking.scale));
  };
  lowered.results.push_back(
      elementwise(b, {inputs[0], inputs[1], dot}, {{}, {}, masking.perRow}, masking.type, body));
  return success();
}

/// `grad` summed to a padding of `type`, [batch or 1, keys].
static Value sumToPadding(NodeBuilder &builder, Value grad, RankedTensorType type) {
  auto spread = type.clone({type.getDimSize(0), 1, 1, type.getDimSize(1)});
  return builder.reshape(builder.reduceTo(grad, spread), type.getShape());
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  auto slope = [&](double scale) {
    return builder
        .create(kZeroDomain, "MaskedSoftmaxGrad", node.inputType(0), {dy[0], node.getOutputs()[0]},
                builder.attr("scale", scale))
        .getResult(0);
  };
  if (wanted[0])
    grads[0] = slope(node.getFloat("scale", 1));
  for (unsigned index = 1; index < wanted.size(); ++index)
    if (wanted[index])
      grads[index] = index == 1 ? sumToPadding(builder, slope(1), node.inputType(1))
                                : builder.reduceTo(slope(1), node.inputType(2));
  return success();
}

void registerMaskedSoftmax() {
  registerOp({kZeroDomain, "MaskedSoftmax", 1, 1, Kind::Rows, lowerMaskedSoftmax, gradient});
  registerOp({kZeroDomain, "MaskedSoftmaxGrad", 1, 1, Kind::Rows, lowerGrad});
}

} // namespace zero::ops
