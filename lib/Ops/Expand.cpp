//===- Expand.cpp ---------------------------------------------------------===//
//
// ONNX: Expand, Tile. Both repeat elements along dimensions;
// gradient: the sum over the repetitions.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;

namespace zero::ops {

static Value copied(ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); }

static LogicalResult lowerExpand(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(elementwise(b, inputs.front(), node.outputType(0), copied));
  return success();
}

static LogicalResult expandGradient(onnx::NodeOp node, ValueRange outputGrads,
                                    ArrayRef<bool> wanted, NodeBuilder &builder,
                                    MutableArrayRef<Value> inputGrads) {
  if (wanted.front() && outputGrads.front())
    inputGrads.front() = builder.reduceTo(outputGrads.front(), node.inputType(0));
  return success();
}

/// Tile's result with each dimension written as (repeats, extent).
static SmallVector<int64_t> tiledShape(onnx::NodeOp node) {
  SmallVector<int64_t> shape;
  for (auto [from, to] : llvm::zip(node.inputType(0).getShape(), node.outputType(0).getShape())) {
    shape.push_back(from == 0 ? 1 : to / from);
    shape.push_back(from);
  }
  return shape;
}

static LogicalResult lowerTile(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto tiled = node.outputType(0).clone(tiledShape(node));
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim)
    exprs.push_back(b.getAffineDimExpr(2 * dim + 1));
  auto map = AffineMap::get(tiled.getRank(), 0, exprs, b.getContext());
  Value repeated = elementwise(b, inputs.front(), map, tiled, copied);
  lowered.results.push_back(reshaped(b, repeated, node.outputType(0)));
  return success();
}

static LogicalResult tileGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (!wanted.front() || !outputGrads.front())
    return success();
  SmallVector<int64_t> repeats;
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim)
    repeats.push_back(2 * dim);
  Value split = builder.reshape(outputGrads.front(), tiledShape(node));
  inputGrads.front() = builder.reduceSum(split, repeats, /*keepdims=*/false);
  return success();
}

static Factors expandFactors(onnx::NodeOp node) {
  RankedTensorType from = node.inputType(0), to = node.outputType(0);
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    const int64_t own = dim - to.getRank() + from.getRank();
    factors.add(own >= 0 && from.getDimSize(own) == to.getDimSize(dim) ? own : -1, dim);
  }
  return factors.take();
}

/// The dimensions that are not repeated.
static Factors tileFactors(onnx::NodeOp node) {
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim)
    if (node.inputType(0).getDimSize(dim) == node.outputType(0).getDimSize(dim))
      factors.add(dim, dim);
  return factors.take();
}

static bool evaluateTile(evaluate::Node &node) {
  const evaluate::Values &x = *node.inputs[0];
  if (x.dims.size() != node.results[0].dims.size())
    return false;
  const evaluate::Dims strides = evaluate::stridesOf(x.dims);
  evaluate::forEachIndex(node.results[0].dims, [&](ArrayRef<int64_t> index) {
    evaluate::Dims source;
    for (auto [position, size] : llvm::zip_equal(index, x.dims))
      source.push_back(position % size);
    node.results[0].elements.push_back(x.elements[evaluate::offsetOf(source, strides)]);
  });
  return true;
}

void registerExpand() {
  registerAnySign(
      OpDef{op::Expand, 8, kNewestOpset, Kind::Elementwise, lowerExpand, expandGradient}
          .linearly(Linear::InFirst)
          .moves()
          .dividedBy(expandFactors)
          .computing(Function::Broadcast)
          .evaluatedBy({.element = [](evaluate::Element &e) { return e.x[0]; }, .reads = 1}));
  registerAnySign(OpDef{op::Tile, 7, kNewestOpset, Kind::Other, lowerTile, tileGradient}
                      .linearly(Linear::InFirst)
                      .moves()
                      .dividedBy(tileFactors)
                      .evaluatedBy({.whole = evaluateTile, .moves = true}));
}

} // namespace zero::ops
