//===- TiledReaders.cpp - readers of tiled parameters ---------------------===//

#include "TiledReaders.h"

#include "zero/Ops/CallAttrs.h"
#include "zero/Ops/Concat.h"
#include "zero/Ops/Tables.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace zero {

/// The dimension of a product's operand that is one of its result's: rows of the left
/// one, columns of the right one.
static std::optional<int64_t> productAxis(onnx::NodeOp node, unsigned operand) {
  if (operand > 1 || node.getInputs()[0] == node.getInputs()[1] ||
      node.inputType(operand).getRank() != 2 || node.inputType(1 - operand).getRank() < 2)
    return std::nullopt;
  bool isTransposed = node.getInt(operand == 0 ? "transA" : "transB", 0);
  return isTransposed == (operand == 0) ? 1 : 0;
}

std::optional<int64_t> tileAxis(OpOperand &use) {
  auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
  unsigned operand = use.getOperandNumber();
  if (!node)
    return std::nullopt;
  if (ops::isProduct(node))
    return productAxis(node, operand);
  return ops::readsTable(use) ? std::optional<int64_t>(0) : std::nullopt;
}

/// A product by columns of its result, or by rows where the parameter is on the left.
static Value tileProduct(onnx::NodeOp node, OpOperand &use, ArrayRef<Value> parts) {
  OpBuilder at(node);
  NodeBuilder builder(at, node.getLoc(), node.getNode());
  unsigned operand = use.getOperandNumber();
  int64_t cut = *tileAxis(use), axis = node.outputType(0).getRank() - (operand == 0 ? 2 : 1);
  auto sizes =
      llvm::map_to_vector(parts, [&](Value part) { return tensorType(part).getDimSize(cut); });
  SmallVector<Value> rows; // of a Gemm, added to each row
  if (operand == 1 && node.hasInput(2)) {
    Value row = node.getInputs()[2];
    rows = splitNode(builder, row, sizes, tensorType(row).getRank() - 1);
  }
  SmallVector<Value> tiles;
  for (auto [index, part] : llvm::enumerate(parts)) {
    auto tile = cast<onnx::NodeOp>(at.clone(*node));
    tile.setOperand(operand, part);
    if (!rows.empty())
      tile.setOperand(2, rows[index]);
    SmallVector<int64_t> shape(node.outputType(0).getShape());
    shape[axis] = sizes[index];
    tile.getResult(0).setType(tensorType(tile.getResult(0)).clone(shape));
    tiles.push_back(tile.getResult(0));
  }
  return concatNode(builder, tiles, axis);
}

/// The cross-entropy of the product that has `use`, if nothing is added to its scores.
static onnx::NodeOp lossOf(OpOperand &use) {
  auto node = cast<onnx::NodeOp>(use.getOwner());
  if (use.getOperandNumber() != 1 || node.getInt("transA", 0) || node.hasInput(2))
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
  const bool isProduct = ops::isProduct(node);
  if (isProduct)
    if (onnx::NodeOp loss = lossOf(use))
      return joinWithLoss(node, loss, parts);
  Value result = isProduct ? tileProduct(node, use, parts) : tileGather(node, parts, begins);
  node.getResult(0).replaceAllUsesWith(result);
  node.erase();
}

} // namespace zero
