//===- GatherND.cpp -------------------------------------------------------===//
//
// ONNX: GatherND with batch_dims, ScatterND with any reduction. Gradient of GatherND:
// zero::GatherNDGrad(dy, indices) {batch_dims, shape}, a scatter-add in row-major order, whose
// gradient is the GatherND; ScatterND's gradients are gathers and scatters, for each reduction; see
// Scatter.cpp.
//
// ONNX Runtime: GatherNDGrad(shape, indices, dy) {batch_dims} is zero::GatherNDGrad.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// A GatherND as a gather of rows: data [blocks, extent, inner], indices
/// [blocks, rows, depth], slices [blocks, rows, inner].
struct RowGather {
  RowGather(ArrayRef<int64_t> data, ArrayRef<int64_t> indices, int64_t batchDims) {
    depth = indices.back();
    indexed = SmallVector<int64_t>(data.slice(batchDims, depth));
    blocks = product(data.take_front(batchDims));
    extent = product(indexed);
    inner = product(data.drop_front(batchDims + depth));
    rows = product(indices.drop_back().drop_front(batchDims));
  }

  Value indices(ImplicitLocOpBuilder &b, Value value) const {
    return reshaped(b, value, tensorType(value).clone({blocks, rows, depth}));
  }
  Value data(ImplicitLocOpBuilder &b, Value value) const {
    return reshaped(b, value, tensorType(value).clone({blocks, extent, inner}));
  }
  Value slices(ImplicitLocOpBuilder &b, Value value) const {
    return reshaped(b, value, tensorType(value).clone({blocks, rows, inner}));
  }

  /// The row of the data that index tuple (block, row) names.
  Value rowAt(ImplicitLocOpBuilder &b, Value indices, Value block, Value row) const {
    Value linear = arith::ConstantIndexOp::create(b, 0);
    for (int64_t i = 0; i < depth; ++i) {
      Value position = arith::ConstantIndexOp::create(b, i);
      Value index = tensor::ExtractOp::create(b, indices, ValueRange{block, row, position});
      Value stride = arith::ConstantIndexOp::create(b, indexed[i]);
      linear = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, stride),
                                     boundedIndex(b, index, indexed[i]));
    }
    return linear;
  }

  int64_t blocks, extent, inner, rows, depth;
  SmallVector<int64_t> indexed; ///< the dimensions that an index tuple names
};
} // namespace

static LogicalResult checkTuples(onnx::NodeOp node, const RowGather &gather, Value indices,
                                 ImplicitLocOpBuilder &b, Lowered &lowered) {
  for (int64_t i = 0; i < gather.depth; ++i) {
    Window window = Window::all(tensorType(indices).getShape());
    window.set(2, i, 1, 1);
    bool known = constantInts(node.getInputs()[1]).has_value();
    Value part = known ? indices : cut(b, indices, window);
    if (failed(checkIndices(node, 1, part, gather.indexed[i], b, lowered, {i, gather.depth})))
      return failure();
  }
  return success();
}

static LogicalResult lowerGatherND(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RowGather gather(node.inputType(0).getShape(), node.inputType(1).getShape(),
                   node.getInt("batch_dims", 0));
  Value indices = gather.indices(b, inputs[1]), data = gather.data(b, inputs[0]);
  if (failed(checkTuples(node, gather, indices, b, lowered)))
    return failure();
  auto slices = node.outputType(0).clone({gather.blocks, gather.rows, gather.inner});
  Value result = elementwise(b, {}, slices, [&](ImplicitLocOpBuilder &s, ValueRange) {
    Value block = linalg::IndexOp::create(s, 0), row = linalg::IndexOp::create(s, 1);
    Value column = linalg::IndexOp::create(s, 2);
    Value at = gather.rowAt(s, indices, block, row);
    return tensor::ExtractOp::create(s, data, ValueRange{block, at, column}).getResult();
  });
  lowered.results.push_back(reshaped(b, result, node.outputType(0)));
  return success();
}

static LogicalResult gatherNDGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                      NodeBuilder &builder, MutableArrayRef<Value> grads) {
  return gatherGradient(node, dy, wanted, builder, grads, own::GatherNDGrad,
                        builder.attr("batch_dims", node.getInt("batch_dims", 0)));
}

static LogicalResult gradGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  return scatteredGradient(node, dy, wanted, builder, grads, op::GatherND,
                           builder.attr("batch_dims", node.getInt("batch_dims", 0)));
}

/// Scatters `updates` into `data` by the tuples of operand 1, which the forward
/// node has checked already unless it is ScatterND itself.
static Value scatterTuples(onnx::NodeOp node, const RowGather &gather, Value data, Value indices,
                           Value updates, std::optional<Combine> combine, ImplicitLocOpBuilder &b) {
  Value result = scatterRows(b, gather.data(b, data), gather.slices(b, updates), combine,
                             [&](ImplicitLocOpBuilder &s, Value block, Value row) {
                               return gather.rowAt(s, indices, block, row);
                             });
  return reshaped(b, result, node.outputType(0));
}

static LogicalResult lowerGatherNDGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                       Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RowGather gather(node.outputType(0).getShape(), node.inputType(1).getShape(),
                   node.getInt("batch_dims", 0));
  lowered.results.push_back(scatterTuples(node, gather, filled(b, node.outputType(0), 0),
                                          gather.indices(b, inputs[1]), inputs[0], Combine::Sum,
                                          b));
  return success();
}

static LogicalResult lowerScatterND(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  auto combine = scatterReduction(node);
  if (failed(combine))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RowGather gather(node.inputType(0).getShape(), node.inputType(1).getShape(), 0);
  Value indices = gather.indices(b, inputs[1]);
  if (failed(checkTuples(node, gather, indices, b, lowered)))
    return failure();
  lowered.results.push_back(
      scatterTuples(node, gather, inputs[0], indices, inputs[2], *combine, b));
  return success();
}

static LogicalResult scatterNDGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                       NodeBuilder &builder, MutableArrayRef<Value> grads) {
  return scatterGradient(node, dy, wanted, builder, grads, op::GatherND, {});
}

static LogicalResult expandGrad(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.outputType(0);
  results.push_back(builder
                        .create(own::GatherNDGrad, type, {node.getInputs()[2], node.getInputs()[1]},
                                {builder.attr("batch_dims", node.getInt("batch_dims", 0)),
                                 builder.attr("shape", type.getShape())})
                        .getResult(0));
  return success();
}

/// Batches, tuples of indices, and elements of the slices behind them: of
///   GatherND(data, indices) -> slices, GatherNDGrad(slices, indices) -> data,
///   ScatterND(data, indices, slices) -> data
static Factors tupleFactors(onnx::NodeOp node, bool isGather) {
  const bool isGrad = node.is(own::GatherNDGrad), isScatter = node.is(op::ScatterND);
  const bool adds = isGrad || (isScatter && node.getString("reduction", "none") == "add");
  const int64_t batch = isScatter ? 0 : node.getInt("batch_dims", 0);
  RankedTensorType data = isGrad ? node.outputType(0) : node.inputType(0);
  const int64_t tuples = node.inputType(1).getRank() - 1,
                named = batch + node.inputType(1).getShape().back();
  FactorBuilder factors(node);
  auto add = [&](int64_t inData, int64_t inIndices, int64_t inSlices) {
    if (isGather)
      factors.add({inData, inIndices}, inSlices);
    else if (inData >= 0 || adds)
      factors.add(isGrad ? SmallVector<int64_t>{inSlices, inIndices}
                         : SmallVector<int64_t>{inData, inIndices, inSlices},
                  inData, inData < 0 ? FactorKind::Sum : FactorKind::Parallel,
                  /*addend=*/isScatter && inData < 0 ? 0 : -1);
  };
  for (int64_t dim = 0; dim < tuples; ++dim)
    add(dim < batch ? dim : -1, dim, dim);
  for (int64_t dim = named; dim < data.getRank(); ++dim)
    add(dim, -1, dim - named + tuples);
  return factors.take();
}

static Factors gatherNDFactors(onnx::NodeOp node) { return tupleFactors(node, true); }
static Factors scatterNDFactors(onnx::NodeOp node) { return tupleFactors(node, false); }

/// GatherNDGrad(dy, indices) {batch_dims}: the indices of batches become part of the tuples.
static LogicalResult gatherNDGradPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                         SmallVectorImpl<Value> &results) {
  Value indices = nodes.cast(node.getInputs()[1], nodes.getBuilder().getI64Type());
  SmallVector<int64_t> shape(tensorType(indices).getShape());
  SmallVector<Value> parts;
  const int64_t batches = node.getInt("batch_dims", 0);
  for (int64_t dim = 0; dim < batches; ++dim) {
    SmallVector<int64_t> own(shape.size(), 1), full(shape);
    own[dim] = shape[dim];
    full.back() = 1;
    Value numbers = nodes.indices(llvm::to_vector(llvm::seq<int64_t>(shape[dim])));
    parts.push_back(nodes.expand(nodes.reshape(numbers, own), full));
  }
  parts.push_back(indices);
  shape.back() += batches;
  if (parts.size() > 1)
    indices = nodes
                  .create(op::Concat, tensorType(indices).clone(shape), parts,
                          nodes.attr("axis", int64_t(shape.size()) - 1))
                  .getResult(0);
  results.push_back(
      addAtTuples(nodes, nodes.splat(0, node.outputType(0)), indices, node.getInputs()[0]));
  return success();
}

static bool evaluateGatherND(evaluate::Node &node) {
  const evaluate::Values &data = *node.inputs[0], &indices = *node.inputs[1];
  const int64_t batch = node.getInt("batch_dims", 0), rank = indices.dims.size();
  if (batch < 0 || batch >= rank || batch + indices.dims.back() > int64_t(data.dims.size()))
    return false;
  const RowGather gather(data.dims, indices.dims, batch);
  const int64_t *next = indices.elements.data();
  for (int64_t row = 0; row < gather.blocks * gather.rows; ++row) {
    int64_t place = row / gather.rows;
    for (int64_t extent : gather.indexed) {
      auto position = evaluate::fromFront(*next++, extent);
      if (!position)
        return false;
      place = place * extent + *position;
    }
    llvm::append_range(node.results[0].elements,
                       ArrayRef(data.elements).slice(place * gather.inner, gather.inner));
  }
  return true;
}

void registerGatherND() {
  registerAnySign(
      OpDef{op::GatherND, 11, kNewestOpset, Kind::Other, lowerGatherND, gatherNDGradient}
          .moves()
          .dividedBy(gatherNDFactors)
          .evaluatedBy({.whole = evaluateGatherND}));
  registerAnySign(
      OpDef{op::ScatterND, 11, kNewestOpset, Kind::Other, lowerScatterND, scatterNDGradient}
          .dividedBy(scatterNDFactors)
          .omittingEmpty(firstOperand));
  registerOp(OpDef{own::GatherNDGrad, 1, 1, Kind::Other, lowerGatherNDGrad, gradGradient}
                 .dividedBy(scatterNDFactors)
                 .writtenBy(gatherNDGradPlainly));
  registerRuntimeOp(own::GatherNDGrad.type, expandGrad);
}

} // namespace zero::ops
