//===- LinalgProducts.cpp - sums of products as nodes ---------------------===//
//
// A product of two matrices, or of batches of them, is a MatMul of transposed operands; any other
// sum of products of two operands an Einsum, which does not store the products either.
//
//===----------------------------------------------------------------------===//

#include "zero/Programs/Linalg/LinalgNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero {

/// The argument of the body that `factor` is, through casts between floats.
static BlockArgument argumentOf(Value factor, Block *body) {
  while (auto cast = factor.getDefiningOp<arith::ExtFOp>())
    factor = cast.getIn();
  auto argument = dyn_cast<BlockArgument>(factor);
  return argument && argument.getOwner() == body ? argument : BlockArgument();
}

/// The product that `combiner` adds to the initial value.
static Operation *productOf(linalg::LinalgOp loops, Operation *combiner) {
  BlockArgument initial = loops.getBlock()->getArguments().back();
  if (loops->getNumResults() != 1 || !isa<arith::AddFOp>(combiner) || !initial.hasOneUse() ||
      !llvm::is_contained(combiner->getOperands(), initial))
    return nullptr;
  Value other = combiner->getOperand(combiner->getOperand(0) == initial ? 1 : 0);
  auto product = other.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() ? product : nullptr;
}

Value LinalgNodes::contraction(linalg::LinalgOp loops, Operation *combiner) {
  Operation *product = productOf(loops, combiner);
  if (!product)
    return {};
  AffineMap map = loops.getMatchingIndexingMap(loops.getDpsInitOperand(0));
  SmallVector<int64_t> kept;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      kept.push_back(dim.getPosition());
  if (kept.size() != loops.getNumParallelLoops())
    return {};
  SmallVector<Read> factors;
  SmallVector<BlockArgument> arguments;
  for (Value factor : product->getOperands()) {
    BlockArgument argument = argumentOf(factor, loops.getBlock());
    if (!argument || int64_t(argument.getArgNumber()) >= loops.getNumDpsInputs() ||
        llvm::is_contained(arguments, argument))
      return {};
    arguments.push_back(argument);
    OpOperand &operand = loops->getOpOperand(argument.getArgNumber());
    if (!isa<RankedTensorType>(operand.get().getType()))
      return {};
    Value outside = translate(operand.get());
    if (!outside)
      return {};
    Read read = this->read(outside, loops.getMatchingIndexingMap(&operand));
    if (!read.tensor || llvm::is_contained(read.loops, -1))
      return {};
    read.tensor = nodes.cast(read.tensor, factor.getType());
    factors.push_back(read);
  }
  Value result = matmul(factors[0], factors[1], kept);
  if (!result)
    result = einsum(factors, kept);
  return result ? finish(result, map, kept) : Value();
}

Value LinalgNodes::einsum(ArrayRef<Read> factors, ArrayRef<int64_t> kept) {
  std::string equation;
  SmallVector<Value> tensors;
  SmallVector<int64_t> shape;
  auto letters = [&](ArrayRef<int64_t> of) {
    for (int64_t loop : of)
      equation += char('a' + loop);
  };
  if (extents.size() > 26)
    return {};
  for (const Read &factor : factors) {
    equation += tensors.empty() ? "" : ",";
    letters(factor.loops);
    tensors.push_back(factor.tensor);
  }
  for (int64_t loop : kept) {
    // A dimension that no factor has would have to be repeated.
    if (llvm::none_of(factors, [&](const Read &f) { return llvm::is_contained(f.loops, loop); }))
      return {};
    shape.push_back(extents[loop]);
  }
  equation += "->";
  letters(kept);
  return nodes
      .create(op::Einsum, tensorType(tensors[0]).clone(shape), tensors,
              nodes.attr("equation", StringRef(equation)))
      .getResult(0);
}

namespace {
/// The loops of a product by the operands that have them.
struct ProductLoops {
  SmallVector<int64_t> batch, rows, columns, summed;
};
} // namespace

/// None if a loop is in one operand and summed, or in none.
static std::optional<ProductLoops> classify(ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                            ArrayRef<int64_t> kept, int64_t rank) {
  ProductLoops found;
  for (int64_t loop = 0; loop < rank; ++loop) {
    bool inA = llvm::is_contained(a, loop), inB = llvm::is_contained(b, loop);
    if (llvm::is_contained(kept, loop)) {
      if (!inA && !inB)
        return std::nullopt;
      (inA && inB ? found.batch : inA ? found.rows : found.columns).push_back(loop);
    } else if (inA && inB) {
      found.summed.push_back(loop);
    } else {
      return std::nullopt;
    }
  }
  return found;
}

/// A MatMul where there is one dimension each of columns and sums, and one of rows in a batch.
Value LinalgNodes::matmul(Read a, Read b, ArrayRef<int64_t> kept) {
  auto distinct = [](SmallVector<int64_t> loops) {
    llvm::sort(loops);
    return std::adjacent_find(loops.begin(), loops.end()) == loops.end();
  };
  auto loops = classify(a.loops, b.loops, kept, int64_t(extents.size()));
  if (!loops || !distinct(a.loops) || !distinct(b.loops))
    return {};
  // The operand whose loop is the result's last one is on the right.
  if (!loops->rows.empty() && !kept.empty() && kept.back() == loops->rows.back() &&
      !loops->columns.empty()) {
    std::swap(a, b);
    std::swap(loops->rows, loops->columns);
  }
  bool isBatch = !loops->batch.empty();
  if (loops->summed.size() != 1 || loops->columns.size() > 1 || (isBatch && loops->rows.size() > 1))
    return {};
  auto order = [&](const Read &of, ArrayRef<int64_t> wanted) {
    SmallVector<int64_t> permutation;
    for (int64_t loop : wanted)
      permutation.push_back(llvm::find(of.loops, loop) - of.loops.begin());
    return transposeTo(of.tensor, permutation);
  };
  SmallVector<int64_t> left(loops->batch), right(loops->batch), result(loops->batch);
  llvm::append_range(left, loops->rows);
  left.push_back(loops->summed[0]);
  right.push_back(loops->summed[0]);
  llvm::append_range(right, loops->columns);
  llvm::append_range(result, loops->rows);
  llvm::append_range(result, loops->columns);
  Value x = order(a, left), y = order(b, right);
  if (isBatch) { // A vector in a batch is a matrix of one row, or of one column.
    SmallVector<int64_t> xs(tensorType(x).getShape()), ys(tensorType(y).getShape());
    if (loops->rows.empty())
      xs.insert(xs.end() - 1, 1);
    if (loops->columns.empty())
      ys.push_back(1);
    x = reshapeTo(x, xs);
    y = reshapeTo(y, ys);
  }
  Value product = nodes.matmul(x, y);
  SmallVector<int64_t> shape, permutation;
  for (int64_t loop : result)
    shape.push_back(extents[loop]);
  for (int64_t loop : kept)
    permutation.push_back(llvm::find(result, loop) - result.begin());
  return transposeTo(reshapeTo(product, shape), permutation);
}

} // namespace zero
