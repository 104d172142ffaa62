//===- Masking.cpp - scores under masks and their softmax -----------------===//

#include "Masking.h"
#include "zero/Ops/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Value number(ImplicitLocOpBuilder &b, Type type, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

/// `instead` where `tested` equals `odd`, else `value`.
static Value insteadWhere(ImplicitLocOpBuilder &in, Value tested, double odd, double instead,
                          Value value) {
  Type type = value.getType();
  Value isOdd = arith::CmpFOp::create(in, arith::CmpFPredicate::OEQ, tested, number(in, type, odd));
  return arith::SelectOp::create(in, isOdd, number(in, type, instead), value);
}

Masking::Masking(onnx::NodeOp node, OpBuilder &builder, RankedTensorType scores)
    : b(node.getLoc(), builder), type(scores), last(type.getRank() - 1),
      perRow(withoutAxes(b.getContext(), type.getRank(), last)), scale(node.getFloat("scale", 1)),
      fill(node.getFloat("fill", 0)), causal(node.getInt("causal", 0)),
      offset(node.getInt("offset", 0)), window(node.getInt(kWindow, 0)),
      prefix(node.getInt(kPrefix, 0)), guard(node.getInt("guard", 0)) {}

/// How `operand`, [batch or 1, positions], is read in the space of the scores, of which `dim` are
/// the positions.
AffineMap Masking::positionsMap(RankedTensorType operand, int64_t dim) {
  AffineExpr batch =
      operand.getDimSize(0) == 1 ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(0);
  return AffineMap::get(type.getRank(), 0, {batch, b.getAffineDimExpr(dim)}, b.getContext());
}

/// Whether the key of this iteration is one that positions show to its query; null if all are.
Value Masking::isInReach(ImplicitLocOpBuilder &in) {
  if (!causal && !window)
    return nullptr;
  // The integer is as wide as a float, so that vectors of both have the same number of elements.
  Type narrow = in.getI32Type();
  Value key = arith::IndexCastOp::create(in, narrow, linalg::IndexOp::create(in, last));
  Value query = linalg::IndexOp::create(in, last - 1);
  if (offset)
    query = arith::AddIOp::create(in, query, arith::ConstantIndexOp::create(in, offset));
  query = arith::IndexCastOp::create(in, narrow, query);
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(in, in.getI32IntegerAttr(int32_t(value)));
  };
  Value shown;
  if (causal) {
    Value end = prefix ? arith::MaxSIOp::create(in, query, constant(prefix - 1)) : query;
    shown = arith::CmpIOp::create(in, arith::CmpIPredicate::sle, key, end);
  }
  if (!window)
    return shown;
  Value begin = arith::SubIOp::create(in, query, constant(window));
  Value isNear = arith::CmpIOp::create(in, arith::CmpIPredicate::sgt, key, begin);
  return shown ? arith::AndIOp::create(in, shown, isNear) : isNear;
}

/// Adds `fill` unless `shown`.
Value Masking::hide(ImplicitLocOpBuilder &in, Value score, Value shown) {
  Type element = score.getType();
  Value bias =
      arith::SelectOp::create(in, shown, number(in, element, 0), number(in, element, fill));
  return arith::AddFOp::create(in, score, bias);
}

/// The element of `score` under the masks' elements.
Value Masking::element(ImplicitLocOpBuilder &in, Value score, ValueRange masks) {
  Type element = score.getType();
  if (scale != 1)
    score = arith::MulFOp::create(in, score, number(in, element, scale));
  Value shown = isInReach(in), segment;
  auto require = [&](Value also) {
    shown = shown ? arith::AndIOp::create(in, shown, also).getResult() : also;
  };
  for (Value mask : masks) {
    if (isa<FloatType>(mask.getType()))
      score = arith::AddFOp::create(in, score, mask);
    else if (mask.getType().isInteger(1))
      require(mask);
    else if (segment)
      require(arith::CmpIOp::create(in, arith::CmpIPredicate::eq, segment, mask));
    else
      segment = mask;
  }
  return shown ? hide(in, score, shown) : score;
}

Value Masking::pass(ValueRange operands, Body body) {
  SmallVector<AffineMap> maps;
  for (Value operand : operands)
    maps.push_back(tensorType(operand).getRank() == type.getRank() ? AffineMap() : perRow);
  return elementwise(b, operands, maps, type, body);
}

Value Masking::scores(Value raw, ValueRange masks) {
  SmallVector<Value> operands{raw};
  SmallVector<AffineMap> maps{{}};
  for (auto [index, mask] : llvm::enumerate(masks)) {
    if (!mask)
      continue;
    operands.push_back(mask);
    const bool isBroadcast = index == 1; // the mask of queries by keys
    maps.push_back(isBroadcast ? AffineMap()
                               : positionsMap(tensorType(mask), index == 2 ? last - 1 : last));
  }
  return elementwise(b, operands, maps, type, [&](ImplicitLocOpBuilder &in, ValueRange x) {
    return element(in, x[0], x.drop_front());
  });
}

Value Masking::top(Value scores) { return reduce(b, scores, last, Combine::Max); }

Value Masking::powers(Value scores, Value top) {
  // Any shift gives the same; a row without a key takes one that leaves zeros.
  return pass({scores, top}, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value shift = x[1];
    if (guard)
      shift = insteadWhere(in, shift, -kInfinity, 0, shift);
    return math::ExpOp::create(in, arith::SubFOp::create(in, x[0], shift));
  });
}

Value Masking::normalized(Value powers, Value sum) {
  return pass({powers, sum}, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value divisor = x[1];
    if (guard)
      divisor = insteadWhere(in, divisor, 0, 1, divisor);
    return arith::DivFOp::create(in, x[0], divisor);
  });
}

Value Masking::logSumExp(Value top, Value sum) {
  return elementwise(b, {top, sum}, tensorType(top),
                     [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                       Value lse = arith::AddFOp::create(in, x[0], math::LogOp::create(in, x[1]));
                       if (!guard)
                         return lse;
                       return insteadWhere(in, x[1], 0, kInfinity, lse);
                     });
}

Value Masking::rowDot(Value a, Value other) {
  return reduce(b, {a, other}, {}, tensorType(a), tensorType(a).getRank() - 1, Combine::Sum,
                [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                  return arith::MulFOp::create(in, x[0], x[1]);
                });
}

Value Masking::slope(Value dy, Value weights, Value dot) {
  return pass({dy, weights, dot}, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value centred = arith::SubFOp::create(in, x[0], x[2]);
    Value grad = arith::MulFOp::create(in, x[1], centred);
    if (scale == 1)
      return grad;
    return arith::MulFOp::create(in, grad, number(in, grad.getType(), scale));
  });
}

Value sumToPadding(NodeBuilder &builder, Value grad, RankedTensorType type) {
  auto spread = type.clone({type.getDimSize(0), 1, 1, type.getDimSize(1)});
  return builder.reshape(builder.reduceTo(grad, spread), type.getShape());
}

} // namespace zero::ops
