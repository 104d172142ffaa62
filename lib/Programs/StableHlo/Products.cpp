//===- Products.cpp - matrix products -------------------------------------===//
//
// dot_general is MatMul on operands [batch..., M, K] and [batch..., K, N]. Where an operand has its
// last two groups of dimensions the other way round, it is read so and transposed: the transpose
// becomes a flag of the product later (zero-fold-transposes).
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

namespace {
/// The dimensions of one operand by what they are for.
struct Groups {
  SmallVector<int64_t> batch, free, contracting;
};
} // namespace

/// Whether `order` moves only dimensions of one element.
static bool keepsOrder(ArrayRef<int64_t> order, ArrayRef<int64_t> shape) {
  int64_t last = -1;
  for (int64_t dim : order) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

/// `x` as [batch..., first, second], each of the last two one dimension.
static Value asMatrices(Emitter &b, Value x, const Groups &groups, ArrayRef<int64_t> first,
                        ArrayRef<int64_t> second) {
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<int64_t> result = sizesOf(shape, groups.batch);
  result.push_back(productOf(sizesOf(shape, first)));
  result.push_back(productOf(sizesOf(shape, second)));
  x = b.permuted(x, joined(joined(groups.batch, first), second));
  return b.reshaped(x, result);
}

/// `x` as [batch..., rows, columns], by a transpose of the last two where it is stored so.
static Value operandOf(Emitter &b, Value x, const Groups &groups, ArrayRef<int64_t> rows,
                       ArrayRef<int64_t> columns) {
  ArrayRef<int64_t> shape = shapeOf(x);
  auto direct = joined(joined(groups.batch, rows), columns);
  auto swapped = joined(joined(groups.batch, columns), rows);
  if (!keepsOrder(direct, shape) && keepsOrder(swapped, shape))
    return b.swapped(asMatrices(b, x, groups, columns, rows));
  return asMatrices(b, x, groups, rows, columns);
}

/// Orders the contracted dimensions so that an operand has them in memory order. The operand
/// without free dimensions in between decides.
static void orderContracting(Groups &left, Groups &right) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(left.contracting.size()));
  llvm::sort(order,
             [&](int64_t i, int64_t j) { return left.contracting[i] < left.contracting[j]; });
  applyPermutationToVector(left.contracting, order);
  applyPermutationToVector(right.contracting, order);
}

/// A product with a matrix keeps the dimensions in front of the contracted one.
static bool isLinear(const Groups &left, const Groups &right, Value x) {
  return left.batch.empty() && left.contracting.size() == 1 && left.free.size() > 1 &&
         left.contracting.front() == int64_t(shapeOf(x).size()) - 1;
}

static Value product(Emitter &b, Value x, Value y, Groups left, Groups right,
                     ArrayRef<int64_t> result) {
  orderContracting(left, right);
  Value matrix = operandOf(b, y, right, right.contracting, right.free);
  if (isLinear(left, right, x))
    return b.reshaped(b.matmul(x, matrix), result);
  Value rows = operandOf(b, x, left, left.free, left.contracting);
  return b.reshape(b.matmul(rows, matrix), result);
}

/// The dimensions of an operand, or nothing if the attribute does not fit.
static std::optional<Groups> groupsOf(Value x, ArrayRef<int64_t> batch,
                                      ArrayRef<int64_t> contracting) {
  const int64_t rank = shapeOf(x).size();
  SmallVector<int64_t> used = joined(batch, contracting);
  if (!areDims(used, rank))
    return std::nullopt;
  return Groups{llvm::to_vector(batch), otherDims(rank, used), llvm::to_vector(contracting)};
}

/// Both operands in the type in which the products are summed.
static Type sumType(Value x, Value y, Type result) {
  for (Value operand : {x, y})
    if (elementOf(operand).getIntOrFloatBitWidth() > result.getIntOrFloatBitWidth())
      return elementOf(operand);
  return result;
}

static LogicalResult emitProduct(Operation *op, Emitter &b, ArrayRef<int64_t> batchX,
                                 ArrayRef<int64_t> batchY, ArrayRef<int64_t> contractingX,
                                 ArrayRef<int64_t> contractingY, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto left = groupsOf(x, batchX, contractingX), right = groupsOf(y, batchY, contractingY);
  if (!left || !right || sizesOf(shapeOf(x), left->batch) != sizesOf(shapeOf(y), right->batch) ||
      sizesOf(shapeOf(x), left->contracting) != sizesOf(shapeOf(y), right->contracting))
    return b.refuse("expected dimensions of both operands in pairs of equal size");
  const bool isFloat = isa<FloatType>(type.getElementType());
  if (isBool(type.getElementType()) || isFloat != isa<FloatType>(elementOf(x)) ||
      isFloat != isa<FloatType>(elementOf(y)))
    return b.refuse("expected operands and a result that are all floats or all integers");
  auto shape = joined(joined(sizesOf(shapeOf(x), left->batch), sizesOf(shapeOf(x), left->free)),
                      sizesOf(shapeOf(y), right->free));
  Type sum = sumType(x, y, type.getElementType());
  // Products of integers have the same bits with a sign and without.
  Type plain = isFloat ? sum : b.getBuilder().getIntegerType(sum.getIntOrFloatBitWidth());
  auto widened = [&](Value operand) { return b.bitcast(b.cast(operand, sum), plain); };
  Value result = product(b, widened(x), widened(y), *left, *right, shape);
  results.push_back(b.cast(b.bitcast(result, sum), type.getElementType()));
  return success();
}

static LogicalResult dotGeneral(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  DotAttr dims = cast<DotGeneralOp>(op).getDotDimensionNumbers();
  return emitProduct(op, b, dims.getLhsBatch(), dims.getRhsBatch(), dims.getLhsContracting(),
                     dims.getRhsContracting(), results);
}

/// The older form: the last dimension of the left operand and the first of the right one.
static LogicalResult dot(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  const int64_t rank = shapeOf(op->getOperand(0)).size();
  return emitProduct(op, b, {}, {}, {rank - 1}, {0}, results);
}

void addProductRules(RuleTable &table) {
  table["stablehlo.dot_general"] = dotGeneral;
  table["stablehlo.dot"] = dot;
}

} // namespace zero::hlo
