//===- Dft.cpp - discrete Fourier transforms ------------------------------===//
//
// ONNX: DFT (opsets 17 to 28) of [..., 1] real or [..., 2] complex numbers along a
// constant axis, with a constant dft_length; inverse and onesided, both together giving
// real numbers. It is expanded to products with matrices of cosines and sines, whose
// gradients are those of products: see DftMatrix.cpp.
//
// A short transform, or one whose length has no divisors, is one product: length^2
// operations. One of length A B is B transforms of length A, a turn of each number, and A
// transforms of length B (Cooley and Tukey, 1965): length (A + B) operations.
//
//===----------------------------------------------------------------------===//

#include "Dft.h"
#include "Contraction.h"
#include "Movement.h"

#include "zero/Ops/Concat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

namespace {
/// The transform of `given` numbers to `made` ones, of a signal of `length`.
struct Transform {
  int64_t axis, length, given, made;
  int64_t partsOut; ///< 1: real, 2: complex
  bool inverse;
  /// Of a real signal's frequencies, only those up to the middle are given.
  bool mirrored;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

/// The longest transform, and the longest that is one product.
static constexpr int64_t kMostLength = int64_t(1) << 16, kMostDirect = int64_t(1) << 13;

/// The one integer of operand `index`; an error at the node where it isn't constant.
static FailureOr<int64_t> requireInt(onnx::NodeOp node, unsigned index, StringRef what) {
  auto ints = requireInts(node, index, what);
  if (failed(ints))
    return failure();
  if (ints->size() != 1)
    return nodeError(node) << "expected one number in '" << what << "', got " << ints->size();
  return ints->front();
}

static FailureOr<int64_t> axisOf(onnx::NodeOp node, int64_t rank) {
  FailureOr<int64_t> axis = node.getOpset() < 20 ? node.getInt("axis", 1) : int64_t(-2);
  if (node.getOpset() >= 20 && node.hasInput(2))
    axis = requireInt(node, 2, "axis");
  if (failed(axis))
    return failure();
  int64_t dim = normalAxis(*axis, rank);
  if (dim < 0 || dim >= rank - 1)
    return nodeError(node) << "expected an axis of " << rank
                           << " dimensions other than the last, got " << *axis;
  return dim;
}

static FailureOr<int64_t> lengthOf(onnx::NodeOp node, int64_t fallback) {
  FailureOr<int64_t> length = fallback;
  if (node.hasInput(1))
    length = requireInt(node, 1, "dft_length");
  if (succeeded(length) && (*length < 1 || *length > kMostLength))
    return nodeError(node) << "expected a dft_length of 1 to " << kMostLength << ", got "
                           << *length;
  return length;
}

static FailureOr<Transform> transformOf(onnx::NodeOp node) {
  RankedTensorType from = node.inputType(0), to = node.outputType(0);
  int64_t rank = from.getRank();
  if (failed(requireFloat(node)))
    return failure();
  if (rank < 2 || from.getShape().back() < 1 || from.getShape().back() > 2)
    return nodeError(node) << "expected real or complex numbers, [..., 1] or [..., 2], got "
                           << from;
  FailureOr<int64_t> axis = axisOf(node, rank);
  if (failed(axis))
    return failure();
  bool inverse = node.getInt("inverse", 0) != 0, onesided = node.getInt("onesided", 0) != 0;
  bool mirrored = inverse && onesided;
  int64_t given = from.getDimSize(*axis);
  FailureOr<int64_t> length = lengthOf(node, mirrored ? 2 * (given - 1) : given);
  if (failed(length))
    return failure();
  bool halves = onesided && !inverse;
  Transform transform{*axis,   *length, given, halves ? *length / 2 + 1 : *length, mirrored ? 1 : 2,
                      inverse, mirrored};
  SmallVector<int64_t> expected(from.getShape());
  expected[*axis] = transform.made;
  expected.back() = transform.partsOut;
  if (to.getShape() != ArrayRef<int64_t>(expected))
    return nodeError(node) << "expected a result of " << from.clone(expected) << ", got " << to;
  return transform;
}

//===----------------------------------------------------------------------===//
// One product
//===----------------------------------------------------------------------===//

/// `rows` [rows, numbers, parts] transformed by one matrix.
static Value multiplied(NodeBuilder &builder, Value rows, const DftMatrix &matrix, int64_t made) {
  ArrayRef<int64_t> shape = tensorType(rows).getShape();
  Type element = tensorType(rows).getElementType();
  Value flat = builder.reshape(rows, {shape[0], shape[1] * shape[2]});
  Value product = contractNode(
      builder, flat, dftMatrixNode(builder, matrix, shape[1], made, element), false, false);
  return builder.reshape(product, {shape[0], made, matrix.partsOut});
}

//===----------------------------------------------------------------------===//
// Transforms in stages
//===----------------------------------------------------------------------===//

/// Below this a product is faster than several.
static constexpr int64_t kWorthwhile = 256;

/// The largest divisor of `length` up to its root, if transforms of its parts are faster.
static std::optional<int64_t> splitOf(int64_t length) {
  if (length < kWorthwhile)
    return std::nullopt;
  for (int64_t divisor = int64_t(std::sqrt(double(length))) + 1; divisor >= 4; --divisor)
    if (length % divisor == 0 && divisor * divisor <= length)
      return divisor;
  return std::nullopt;
}

/// The full transform of rows [rows, length, parts].
static Value staged(NodeBuilder &builder, Value rows, int64_t length, bool inverse) {
  ArrayRef<int64_t> shape = tensorType(rows).getShape();
  int64_t count = shape[0], parts = shape[2];
  std::optional<int64_t> split = splitOf(length);
  if (!split)
    return multiplied(builder, rows, {length, parts, 2, inverse, false}, length);
  int64_t a = *split, b = length / a;
  // Number a B + b; frequency a + A b.
  Value columns = builder.transpose(builder.reshape(rows, {count, a, b, parts}), {0, 2, 1, 3});
  columns = builder.reshape(columns, {count * b, a, parts});
  columns = multiplied(builder, columns, {a, parts, 2, inverse, false}, a);
  columns = builder.reshape(columns, {count, b, a, 2});
  columns = dftTurnNode(builder, columns, length, inverse);
  Value lines = builder.reshape(builder.transpose(columns, {0, 2, 1, 3}), {count * a, b, 2});
  lines = builder.reshape(staged(builder, lines, b, inverse), {count, a, b, 2});
  return builder.reshape(builder.transpose(lines, {0, 2, 1, 3}), {count, length, 2});
}

/// The first `count` numbers of rows [rows, numbers, parts], or all and zeros behind them.
static Value fitted(NodeBuilder &builder, Value rows, int64_t count) {
  RankedTensorType type = tensorType(rows);
  int64_t given = type.getDimSize(1);
  if (given >= count)
    return given == count ? rows : sliceNode(builder, rows, 1, 0, count);
  auto rest = type.clone({type.getDimSize(0), count - given, type.getDimSize(2)});
  return concatNode(builder, {rows, builder.splat(0, rest)}, 1);
}

/// All `length` frequencies of a real signal from those up to the middle: the others are
/// their conjugates, from the last to the first.
static Value mirroredHalf(NodeBuilder &builder, Value rows, int64_t length) {
  RankedTensorType type = tensorType(rows);
  int64_t last = length - length / 2 - 1;
  if (last < 1)
    return rows;
  auto tailType = type.clone({type.getDimSize(0), last, type.getDimSize(2)});
  Value tail = builder
                   .create(op::Slice, tailType,
                           {rows, builder.indices(last), builder.indices(int64_t(0)),
                            builder.indices(1), builder.indices(-1)})
                   .getResult(0);
  if (type.getDimSize(2) == 2) {
    Builder &attrs = builder.getBuilder();
    Type element = type.getElementType();
    auto signs = DenseElementsAttr::get(
        RankedTensorType::get({2}, element),
        ArrayRef<Attribute>{attrs.getFloatAttr(element, 1), attrs.getFloatAttr(element, -1)});
    tail =
        builder.mul(tail, arith::ConstantOp::create(builder.getBuilder(), builder.getLoc(), signs));
  }
  return concatNode(builder, {rows, tail}, 1);
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

/// `transform` of rows [rows, given, parts].
static Value transformed(NodeBuilder &builder, Value rows, const Transform &transform) {
  int64_t length = transform.length, parts = tensorType(rows).getShape().back();
  int64_t needed = transform.mirrored ? length / 2 + 1 : length;
  if (!splitOf(length)) {
    rows = transform.given > needed ? fitted(builder, rows, needed) : rows;
    return multiplied(builder, rows,
                      {length, parts, transform.partsOut, transform.inverse, transform.mirrored},
                      transform.made);
  }
  rows = fitted(builder, rows, needed);
  if (transform.mirrored)
    rows = mirroredHalf(builder, rows, length);
  rows = staged(builder, rows, length, transform.inverse);
  rows = fitted(builder, rows, transform.made);
  return transform.partsOut == 2 ? rows : sliceNode(builder, rows, 2, 0, 1);
}

/// The order that brings dimension `axis` in front of the last of `rank`.
static SmallVector<int64_t> axisLast(int64_t axis, int64_t rank) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end() - 1);
  return order;
}

static LogicalResult expandDft(onnx::NodeOp node, NodeBuilder &builder,
                               SmallVectorImpl<Value> &results) {
  FailureOr<Transform> transform = transformOf(node);
  if (failed(transform))
    return failure();
  if (transform->length > kMostDirect && !splitOf(transform->length))
    return nodeError(node) << "expected a dft_length of at most " << kMostDirect
                           << ", or one with divisors, got " << transform->length;
  Value value = node.getInputs()[0];
  int64_t rank = tensorType(value).getRank();
  SmallVector<int64_t> order = axisLast(transform->axis, rank), back(rank);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  bool moves = !llvm::is_sorted(order);
  if (moves)
    value = builder.transpose(value, order);
  SmallVector<int64_t> shape(tensorType(value).getShape());
  Value rows = builder.reshape(
      value, {product(ArrayRef(shape).drop_back(2)), transform->given, shape.back()});
  shape[rank - 2] = transform->made;
  shape[rank - 1] = transform->partsOut;
  value = builder.reshape(transformed(builder, rows, *transform), shape);
  results.push_back(moves ? builder.transpose(value, back) : value);
  return success();
}

void registerDft() {
  registerOp({{"", "DFT"}, 17, kNewestOpset, Kind::Other, nullptr, nullptr, expandDft});
}

} // namespace zero::ops
