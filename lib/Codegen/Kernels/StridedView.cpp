//===- StridedView.cpp - layouts of tensors in buffers --------------------===//

#include "StridedView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero {

StridedView StridedView::rowMajor(ArrayRef<int64_t> shape) {
  return {llvm::to_vector(shape), computeSuffixProduct(shape)};
}

std::optional<StridedView> StridedView::collapse(ArrayRef<ReassociationIndices> groups) const {
  StridedView result;
  for (const ReassociationIndices &group : groups) {
    int64_t size = 1, stride = 0, next = 0;
    for (int64_t dim : llvm::reverse(group)) {
      if (shape[dim] == 1)
        continue;
      if (size == 1)
        stride = strides[dim];
      else if (strides[dim] != next)
        return std::nullopt;
      size *= shape[dim];
      next = strides[dim] * shape[dim];
    }
    result.shape.push_back(size);
    result.strides.push_back(stride);
  }
  return result;
}

StridedView StridedView::expand(ArrayRef<int64_t> newShape,
                                ArrayRef<ReassociationIndices> groups) const {
  StridedView result{llvm::to_vector(newShape), SmallVector<int64_t>(newShape.size())};
  for (auto [dim, group] : llvm::enumerate(groups)) {
    int64_t stride = strides[dim];
    for (int64_t part : llvm::reverse(group)) {
      result.strides[part] = stride;
      stride *= newShape[part];
    }
  }
  return result;
}

std::optional<SmallVector<int64_t>> loopStrides(AffineMap map, const StridedView &view) {
  SmallVector<int64_t> strides(map.getNumDims(), 0);
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      strides[dim.getPosition()] += view.strides[position];
    else if (view.shape[position] != 1)
      return std::nullopt;
  }
  return strides;
}

/// Whether the body of a generic with block `block` yields its first argument, either unchanged or
/// converted once by a `Conversion`.
template <typename Conversion>
static bool givesArgument(Block *block) {
  Value result = block->getTerminator()->getOperand(0);
  if (block->without_terminator().empty())
    return result == block->getArgument(0);
  auto conversion = dyn_cast<Conversion>(&block->front());
  return conversion && conversion->getNextNode() == block->getTerminator() &&
         result == conversion && conversion.getIn() == block->getArgument(0);
}

/// Whether `op` is a linalg.generic that only moves elements, or also changes how
/// they are stored: `Conversion` extends or rounds floats.
template <typename Conversion>
static bool onlyMoves(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return false;
  return givesArgument<Conversion>(op.getBlock());
}

/// How the result of `op`, which only moves elements, views the buffer of its operand.
static std::optional<StridedView> forward(linalg::LinalgOp op, const StridedView &source) {
  auto strides = loopStrides(op.getMatchingIndexingMap(op.getDpsInputOperand(0)), source);
  if (!strides)
    return std::nullopt;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  StridedView result{llvm::to_vector(op.getShape(op.getDpsInitOperand(0))), {}};
  for (AffineExpr expr : written.getResults())
    result.strides.push_back((*strides)[cast<AffineDimExpr>(expr).getPosition()]);
  return result;
}

std::optional<ArgumentView> viewOfArgument(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ArgumentView{argument, StridedView::rowMajor(type.getShape())};
  auto along = [&](Value source, auto &&change) -> std::optional<ArgumentView> {
    std::optional<ArgumentView> from = viewOfArgument(source);
    if (!from)
      return std::nullopt;
    std::optional<StridedView> view = change(from->view);
    if (!view)
      return std::nullopt;
    return ArgumentView{from->argument, *view};
  };
  if (auto op = value.getDefiningOp<tensor::CollapseShapeOp>())
    return along(op.getSrc(), [&](const StridedView &view) {
      return view.collapse(op.getReassociationIndices());
    });
  if (auto op = value.getDefiningOp<tensor::ExpandShapeOp>())
    return along(op.getSrc(), [&](const StridedView &view) {
      return std::optional(view.expand(type.getShape(), op.getReassociationIndices()));
    });
  if (auto op = value.getDefiningOp<linalg::LinalgOp>(); op && onlyMoves<arith::ExtFOp>(op))
    return along(op.getDpsInputs()[0], [&](const StridedView &view) { return forward(op, view); });
  return std::nullopt;
}

bool stepToSource(Value &value, MutableArrayRef<StridedView> views) {
  if (auto op = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    for (StridedView &view : views) {
      auto collapsed = view.collapse(op.getReassociationIndices());
      if (!collapsed)
        return false;
      view = *collapsed;
    }
    value = op.getSrc();
    return true;
  }
  if (auto op = value.getDefiningOp<tensor::CollapseShapeOp>()) {
    for (StridedView &view : views)
      view = view.expand(op.getSrcType().getShape(), op.getReassociationIndices());
    value = op.getSrc();
    return true;
  }
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !onlyMoves<arith::TruncFOp>(op))
    return false;
  AffineMap read = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (!read.isPermutation())
    return false;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (StridedView &view : views) {
    auto strides = loopStrides(written, view);
    view.shape = llvm::to_vector(op.getShape(op.getDpsInputOperand(0)));
    view.strides.clear();
    for (AffineExpr expr : read.getResults())
      view.strides.push_back((*strides)[cast<AffineDimExpr>(expr).getPosition()]);
  }
  value = op.getDpsInputs()[0];
  return true;
}

} // namespace zero
