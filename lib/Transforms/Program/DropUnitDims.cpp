//===- DropUnitDims.cpp - compute without dimensions of extent one --------===//
//
// Frameworks add dimensions of extent one before they map or broadcast a function: attention of
// jax.nn has scores of [1, batch, heads, queries, keys]. Nodes that do not need such dimensions
// work on the tensor before the Reshape that added them, and the Reshape follows. That is a view,
// so nothing is moved, and the recognizers find the shapes they know.
//
//===----------------------------------------------------------------------===//

#include "DeadOps.h"
#include "ElementwiseNodes.h"

#include "zero/Ops/Axes.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DROPUNITDIMS
#include "include/zero/Transforms/Program/Passes.h.inc"

/// Most dimensions that recognizers and kernels' layouts are written for.
static constexpr int64_t kUsualRank = 4;

/// The dimensions of `shape` that are left in `smaller`, in order; the others have extent one.
/// Nothing if `smaller` is not `shape` without such dimensions.
static std::optional<SmallVector<int64_t>> keptDims(ArrayRef<int64_t> shape,
                                                    ArrayRef<int64_t> smaller) {
  SmallVector<int64_t> kept;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (kept.size() < smaller.size() && smaller[kept.size()] == extent)
      kept.push_back(dim);
    else if (extent != 1)
      return std::nullopt;
  }
  return kept.size() == smaller.size() ? std::optional(kept) : std::nullopt;
}

/// The operand of the view that makes `value`; null if none does.
static Value beforeReshape(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  return ops::isView(node) ? node.getInputs().front() : Value();
}

/// The dimensions of `shape` without leading ones of extent one, as long as it has more than usual.
static SmallVector<int64_t> withoutLeading(ArrayRef<int64_t> shape) {
  int64_t rank = shape.size(), first = 0;
  while (rank - first > kUsualRank && shape[first] == 1)
    ++first;
  return llvm::to_vector(llvm::seq(first, rank));
}

/// The dimensions of `value` to compute with: those that were there before a Reshape added others,
/// or all but leading ones. The last one stays, by which sums over it broadcast.
static SmallVector<int64_t> workingDims(Value value) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (int64_t(shape.size()) > kUsualRank)
    for (Value source = beforeReshape(value); source; source = beforeReshape(source)) {
      auto kept = keptDims(shape, tensorType(source).getShape());
      if (kept && !kept->empty() && kept->size() < shape.size() &&
          kept->back() + 1 == int64_t(shape.size()))
        return *kept;
    }
  return beforeReshape(value) ? withoutLeading(shape)
                              : llvm::to_vector(llvm::seq<int64_t>(shape.size()));
}

/// All dimensions of `shape` but as many of extent one as it has more than usual, the last ones
/// first.
static SmallVector<int64_t> withoutLast(ArrayRef<int64_t> shape) {
  auto kept = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
  for (int64_t dim = shape.size() - 1; dim >= 0 && int64_t(kept.size()) > kUsualRank; --dim)
    if (shape[dim] == 1)
      kept.erase(kept.begin() + dim);
  return kept;
}

namespace {
/// One function.
class Dropping {
public:
  void run(onnx::NodeOp node);

private:
  void runElementwise(onnx::NodeOp node);
  void runReduction(onnx::NodeOp node);
  void runTranspose(onnx::NodeOp node);
  void replaceByView(onnx::NodeOp node);
  Value aligned(NodeBuilder &builder, Value value, ArrayRef<int64_t> kept, int64_t rank);
  Value viewed(NodeBuilder &builder, Value value, ArrayRef<int64_t> shape);
  void replace(NodeBuilder &builder, onnx::NodeOp node, ValueRange operands, DictionaryAttr attrs,
               ArrayRef<int64_t> shape);

  /// Views made here, so that what was one value stays one.
  llvm::DenseMap<std::pair<Value, Type>, Value> views;
};
} // namespace

/// `value` in `shape`, which has the same elements: what a Reshape came from, if that has it.
Value Dropping::viewed(NodeBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  Type wanted = tensorType(value).clone(shape);
  Value root = value;
  for (Value source = value; source; source = beforeReshape(source)) {
    if (source.getType() == wanted)
      return source;
    root = source;
  }
  DenseElementsAttr elements;
  if (matchPattern(root, m_Constant(&elements)))
    return arith::ConstantOp::create(builder.getBuilder(), builder.getLoc(),
                                     elements.reshape(cast<ShapedType>(wanted)));
  Value &view = views[{root, wanted}];
  if (!view) {
    OpBuilder::InsertionGuard guard(builder.getBuilder());
    builder.getBuilder().setInsertionPointAfterValue(root);
    view = builder.reshape(root, shape);
  }
  return view;
}

/// `value`, which broadcasts to a tensor of `rank` dimensions, for one of only those `kept`.
Value Dropping::aligned(NodeBuilder &builder, Value value, ArrayRef<int64_t> kept, int64_t rank) {
  ArrayRef<int64_t> own = tensorType(value).getShape();
  int64_t shift = rank - int64_t(own.size());
  SmallVector<int64_t> shape;
  for (int64_t dim : kept)
    if (dim >= shift)
      shape.push_back(own[dim - shift]);
  return viewed(builder, value, shape);
}

/// Replaces `node` by one of `operands`, whose result of `shape` is a view of the one it had.
void Dropping::replace(NodeBuilder &builder, onnx::NodeOp node, ValueRange operands,
                       DictionaryAttr attrs, ArrayRef<int64_t> shape) {
  RankedTensorType type = node.outputType(0);
  auto made =
      onnx::NodeOp::create(builder.getBuilder(), node.getLoc(), type.clone(shape), node.getOpType(),
                           operands, attrs, node.getDomain(), node.getOpset(), node.getNode());
  node.replaceAllUsesWith(ValueRange(builder.reshape(made.getResult(0), type.getShape())));
  node.erase();
}

void Dropping::runElementwise(onnx::NodeOp node) {
  ArrayRef<int64_t> shape = node.outputType(0).getShape();
  int64_t rank = shape.size();
  SmallVector<int64_t> kept;
  for (Value operand : node.getInputs()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getRank() > rank)
      return;
    if (type.getShape() != shape)
      continue;
    SmallVector<int64_t> dims = workingDims(operand);
    if (kept.empty() || dims.size() < kept.size())
      kept = dims;
  }
  if (kept.empty() || int64_t(kept.size()) == rank)
    return;
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  SmallVector<Value> operands;
  for (Value operand : node.getInputs())
    operands.push_back(aligned(builder, operand, kept, rank));
  SmallVector<int64_t> smaller = llvm::map_to_vector(kept, [&](int64_t dim) { return shape[dim]; });
  replace(builder, node, operands, node.getAttrs(), smaller);
}

/// Replaces `node`, which computes nothing.
void Dropping::replaceByView(onnx::NodeOp node) {
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  Value view = builder.reshape(node.getInputs()[0], node.outputType(0).getShape());
  node.replaceAllUsesWith(ValueRange(view));
  node.erase();
}

void Dropping::runReduction(onnx::NodeOp node) {
  SmallVector<int64_t> kept = workingDims(node.getInputs()[0]);
  int64_t rank = node.inputType(0).getRank();
  auto axes = listedAxes(node);
  // Without axes it reduces all dimensions, or none.
  if (!axes || axes->empty() || !node.hasInput(1))
    return;
  if (llvm::all_of(*axes, [&](int64_t axis) { return node.inputType(0).getDimSize(axis) == 1; }))
    return replaceByView(node);
  if (int64_t(kept.size()) == rank)
    return;
  bool keeps = node.getInt("keepdims", 1);
  SmallVector<int64_t> newAxes, shape;
  for (auto [index, dim] : llvm::enumerate(kept)) {
    bool isReduced = llvm::is_contained(*axes, dim);
    if (isReduced)
      newAxes.push_back(index);
    if (!isReduced || keeps)
      shape.push_back(isReduced ? 1 : node.inputType(0).getDimSize(dim));
  }
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  Value operand = aligned(builder, node.getInputs()[0], kept, rank);
  replace(builder, node, {operand, builder.indices(newAxes)}, node.getAttrs(), shape);
}

void Dropping::runTranspose(onnx::NodeOp node) {
  ArrayRef<int64_t> from = node.inputType(0).getShape();
  SmallVector<int64_t> kept = withoutLast(from), permutation, shape;
  if (kept.size() == from.size())
    return;
  for (int64_t dim : permutationOf(node)) {
    auto found = llvm::find(kept, dim);
    if (found == kept.end())
      continue;
    permutation.push_back(found - kept.begin());
    shape.push_back(from[dim]);
  }
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  NamedAttribute attr = builder.attr("perm", ArrayRef<int64_t>(permutation));
  replace(builder, node, aligned(builder, node.getInputs()[0], kept, from.size()),
          at.getDictionaryAttr(attr), shape);
}

void Dropping::run(onnx::NodeOp node) {
  using F = ops::Function;
  if (ops::computes(node, F::Permute))
    runTranspose(node);
  else if (ops::computes(node, {F::ReduceSum, F::ReduceMean, F::ReduceMax, F::ReduceMin}))
    runReduction(node);
  else if (isElementwise(node))
    runElementwise(node);
}

namespace {
struct DropUnitDims : impl::DropUnitDimsBase<DropUnitDims> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    Block &body = function.getBody().front();
    Dropping dropping;
    for (auto node : llvm::to_vector(body.getOps<onnx::NodeOp>()))
      dropping.run(node);
    eraseDeadOps(body);
  }
};
} // namespace
} // namespace zero
