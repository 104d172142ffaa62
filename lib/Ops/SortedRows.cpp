//===- SortedRows.cpp - sums of rows by sorted indices --------------------===//

#include "SortedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// Counts over all pairs of a point and an element. Elements are the innermost loop.
class PairLoops {
public:
  PairLoops(ImplicitLocOpBuilder &b, int64_t points, int64_t elements, Type type)
      : b(b), space(RankedTensorType::get({points, elements}, type)) {}

  /// For each point, the sum over all elements of what `body` returns.
  Value sum(ValueRange operands, ArrayRef<AffineMap> maps, Body body) {
    return reduce(b, operands, maps, space, {1}, Combine::Sum, body);
  }
  AffineMap ofPoint() const { return withoutAxes(b.getContext(), 2, {1}); }
  AffineMap ofElement() const { return withoutAxes(b.getContext(), 2, {0}); }

private:
  ImplicitLocOpBuilder &b;
  RankedTensorType space;
};
} // namespace

static Value compare(ImplicitLocOpBuilder &s, arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(s, predicate, a, b);
}

/// `dim` of the loops around, in the type of `like`.
static Value positionIn(ImplicitLocOpBuilder &s, int64_t dim, Value like) {
  return arith::IndexCastOp::create(s, like.getType(), linalg::IndexOp::create(s, dim));
}

/// The place of each of `keys` in their stable order: the number of smaller keys, and of equal ones
/// before it.
static Value placesOf(ImplicitLocOpBuilder &b, Value keys) {
  RankedTensorType type = tensorType(keys);
  PairLoops loops(b, type.getDimSize(0), type.getDimSize(0), type.getElementType());
  return loops.sum({keys, keys}, {loops.ofPoint(), loops.ofElement()},
                   [&](ImplicitLocOpBuilder &s, ValueRange key) -> Value {
                     Value isSmaller = compare(s, arith::CmpIPredicate::slt, key[1], key[0]);
                     Value isEqual = compare(s, arith::CmpIPredicate::eq, key[1], key[0]);
                     Value isBefore = compare(s, arith::CmpIPredicate::slt,
                                              positionIn(s, 1, key[0]), positionIn(s, 0, key[0]));
                     Value comes = arith::OrIOp::create(
                         s, isSmaller, arith::AndIOp::create(s, isEqual, isBefore));
                     return arith::ExtUIOp::create(s, key[0].getType(), comes);
                   });
}

/// The inverse of the permutation `places`.
static Value inverseOf(ImplicitLocOpBuilder &b, Value places) {
  RankedTensorType type = tensorType(places);
  PairLoops loops(b, type.getDimSize(0), type.getDimSize(0), type.getElementType());
  return loops.sum(
      places, loops.ofElement(), [&](ImplicitLocOpBuilder &s, ValueRange place) -> Value {
        Value isHere = compare(s, arith::CmpIPredicate::eq, place[0], positionIn(s, 0, place[0]));
        return arith::SelectOp::create(s, isHere, positionIn(s, 1, place[0]),
                                       constant(s, place[0].getType(), 0));
      });
}

/// For each row up to and including `rows`, the place of its first key: the number of smaller keys.
static Value firstPlaces(ImplicitLocOpBuilder &b, Value keys, int64_t rows) {
  RankedTensorType type = tensorType(keys);
  PairLoops loops(b, rows + 1, type.getDimSize(0), type.getElementType());
  return loops.sum(keys, loops.ofElement(), [&](ImplicitLocOpBuilder &s, ValueRange key) -> Value {
    Value isSmaller = compare(s, arith::CmpIPredicate::slt, key[0], positionIn(s, 0, key[0]));
    return arith::ExtUIOp::create(s, key[0].getType(), isSmaller);
  });
}

static Value loadIndex(ImplicitLocOpBuilder &s, Value tensor, Value at) {
  return arith::IndexCastOp::create(s, s.getIndexType(), tensor::ExtractOp::create(s, tensor, at));
}

/// `element` with the precision of `type`, which is no less.
static Value extended(ImplicitLocOpBuilder &s, Value element, Type type) {
  return element.getType() == type ? element : arith::ExtFOp::create(s, type, element).getResult();
}

namespace {
/// The order in which updates are added.
struct Order {
  Value updates; ///< by place
  Value firsts;  ///< the first place of each row, and the end
};
} // namespace

/// `before` plus the updates of an element, whose indices are those of the loops around.
static Value sumOf(ImplicitLocOpBuilder &s, Value before, Value updates, const Order &order,
                   int64_t axis) {
  SmallVector<Value> at;
  for (int64_t dim = 0; dim < tensorType(updates).getRank(); ++dim)
    at.push_back(linalg::IndexOp::create(s, dim));
  Value one = arith::ConstantIndexOp::create(s, 1);
  Value first = loadIndex(s, order.firsts, at[axis]);
  Value end = loadIndex(s, order.firsts, arith::AddIOp::create(s, at[axis], one));
  auto loop = scf::ForOp::create(
      s, first, end, one, before, [&](OpBuilder &inner, Location loc, Value place, ValueRange sum) {
        ImplicitLocOpBuilder body(loc, inner);
        SmallVector<Value> from(at);
        from[axis] = loadIndex(body, order.updates, place);
        Value update = tensor::ExtractOp::create(body, updates, from);
        update = extended(body, update, sum[0].getType());
        scf::YieldOp::create(body, combined(body, Combine::Sum, sum[0], update));
      });
  return loop.getResult(0);
}

Value addSortedRows(ImplicitLocOpBuilder &b, Value updates, Value start, RankedTensorType result,
                    int64_t axis, RowKey rowKey) {
  const int64_t count = tensorType(updates).getDimSize(axis), rows = result.getDimSize(axis);
  const bool isShort = std::max(count, rows) < INT32_MAX;
  Type keyType = isShort ? b.getI32Type() : b.getI64Type();
  Value keys = elementwise(b, ValueRange(), RankedTensorType::get({count}, keyType),
                           [&](ImplicitLocOpBuilder &s, ValueRange) -> Value {
                             Value key = rowKey(s, linalg::IndexOp::create(s, 0));
                             return arith::IndexCastOp::create(s, keyType, key);
                           });
  const Order order{inverseOf(b, placesOf(b, keys)), firstPlaces(b, keys, rows)};
  Type stored = result.getElementType();
  const bool isNarrow = isa<FloatType>(stored) && stored.getIntOrFloatBitWidth() == 16;
  Type sumType = isNarrow ? b.getF32Type() : stored;
  auto body = [&](OpBuilder &inner, Location loc, ValueRange elements) {
    ImplicitLocOpBuilder s(loc, inner);
    Value before = start ? extended(s, elements.back(), sumType) : constant(s, sumType, 0);
    Value sum = sumOf(s, before, updates, order, axis);
    if (isNarrow)
      sum = arith::TruncFOp::create(s, stored, sum);
    linalg::YieldOp::create(s, sum);
  };
  SmallVector<utils::IteratorType> loops(result.getRank(), utils::IteratorType::parallel);
  AffineMap identity = b.getMultiDimIdentityMap(result.getRank());
  return linalg::GenericOp::create(b, TypeRange(result), ValueRange(),
                                   start ? start : empty(b, result), identity, loops, body)
      .getResult(0);
}

} // namespace zero::ops
