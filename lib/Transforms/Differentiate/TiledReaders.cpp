//===- TiledReaders.cpp - readers of tiled parameters ---------------------===//

#include "TiledReaders.h"

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Ops/CallAttrs.h"
#include "zero/Ops/Concat.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {

/// The factor along which the product of `use` is tiled.
static std::optional<ops::Factor> productFactor(OpOperand &use) {
  auto node = cast<onnx::NodeOp>(use.getOwner());
  if (node.getInputs().size() > 1 && node.getInputs()[0] == node.getInputs()[1])
    return std::nullopt;
  return ops::outputFactor(node, use.getOperandNumber());
}

std::optional<int64_t> tileAxis(OpOperand &use) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  if (!ops::computes(node, ops::Function::Product))
    return node && ops::readsTable(use) ? std::optional<int64_t>(0) : std::nullopt;
  std::optional<ops::Factor> factor = productFactor(use);
  return factor ? std::optional(factor->operands[use.getOperandNumber()]) : std::nullopt;
}

/// Applies the product to each part of its weights, and of what else has the dimension, such as a
/// bias.
static Value tileProduct(onnx::NodeOp node, OpOperand &use, ArrayRef<Value> parts) {
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  const ops::Factor factor = *productFactor(use);
  const unsigned operand = use.getOperandNumber();
  auto sizes = llvm::map_to_vector(
      parts, [&](Value part) { return tensorType(part).getDimSize(factor.operands[operand]); });
  SmallVector<SmallVector<Value>> cut(node.getInputs().size());
  for (auto [input, dim, values] : llvm::zip_equal(node.getInputs(), factor.operands, cut))
    if (input == use.get())
      values.assign(parts.begin(), parts.end());
    else if (dim >= 0)
      values = splitNode(builder, input, sizes, dim);
  SmallVector<Value> tiles;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    auto tile = cast<onnx::NodeOp>(at.clone(*node));
    for (auto [position, values] : llvm::enumerate(cut))
      if (!values.empty())
        tile.setOperand(position, values[index]);
    SmallVector<int64_t> shape(node.outputType(0).getShape());
    shape[factor.results[0]] = size;
    tile.getResult(0).setType(tensorType(tile.getResult(0)).clone(shape));
    tiles.push_back(tile.getResult(0));
  }
  return concatNode(builder, tiles, factor.results[0]);
}

/// The cross-entropy of the product that has `use`, if nothing is added to its scores.
static onnx::NodeOp lossOf(OpOperand &use) {
  auto node = cast<onnx::NodeOp>(use.getOwner());
  if (!ops::isProduct(node) || use.getOperandNumber() != 1 || node.getInt("transA", 0) ||
      node.hasInput(2))
    return {};
  return ops::lossOfScores(node);
}

/// Puts one node in the place of a product and the cross-entropy of its result.
static void joinWithLoss(onnx::NodeOp product, onnx::NodeOp loss, ArrayRef<Value> parts) {
  OpBuilder at(loss);
  NodeBuilder builder(at, loss.getLoc(), loss.getNode());
  Value x = product.getInputs()[0];
  int64_t width = tensorType(x).getShape().back();
  SmallVector<Value> inputs{builder.reshape(x, {loss.inputType(0).getDimSize(0), width}),
                            loss.getInputs()[1],
                            loss.hasInput(2) ? loss.getInputs()[2] : builder.none()};
  llvm::append_range(inputs, parts);
  SmallVector<NamedAttribute> attrs(loss.getAttrs().getValue());
  attrs.push_back(builder.attr("transB", product.getInt("transB", 0)));
  auto joined = builder.create(own::ProjectionLoss, loss.getResultTypes(), inputs, attrs);
  loss.getOutputs().replaceAllUsesWith(joined.getOutputs());
  while (loss != product) { // with the views between
    onnx::NodeOp dead = loss;
    loss = loss.getInputs()[0].getDefiningOp<onnx::NodeOp>();
    dead.erase();
  }
  product.erase();
}

/// A gather by rows of the table: each part fills in the rows that it has.
static Value tileGather(onnx::NodeOp node, ArrayRef<Value> parts, ArrayRef<int64_t> begins) {
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  int64_t extent = begins.back() + tensorType(parts.back()).getDimSize(0);
  Value rows;
  for (auto [part, begin] : llvm::zip_equal(parts, begins)) {
    SmallVector<Value> inputs{part, node.getInputs()[1]};
    if (rows)
      inputs.push_back(rows);
    SmallVector<NamedAttribute> attrs{builder.attr("begin", begin), builder.attr("extent", extent)};
    for (StringRef name : {StringRef(ops::kPaddingIndex), StringRef(ops::kLeastIndex)})
      if (node.getAttrs().contains(name))
        attrs.push_back(builder.attr(name, node.getInt(name, 0)));
    rows = builder.create(own::GatherRows, node.getResult(0).getType(), inputs, attrs).getResult(0);
  }
  return rows;
}

void tileReader(OpOperand &use, ArrayRef<Value> parts, ArrayRef<int64_t> begins) {
  auto node = cast<onnx::NodeOp>(use.getOwner());
  const bool isProduct = ops::computes(node, ops::Function::Product);
  if (onnx::NodeOp loss = lossOf(use))
    return joinWithLoss(node, loss, parts);
  Value result = isProduct ? tileProduct(node, use, parts) : tileGather(node, parts, begins);
  node.getResult(0).replaceAllUsesWith(result);
  node.erase();
}

} // namespace zero
