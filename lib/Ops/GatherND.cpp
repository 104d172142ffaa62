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

void registerGatherND() {
  registerAnySign(
      moving({op::GatherND, 11, kNewestOpset, Kind::Other, lowerGatherND, gatherNDGradient}));
  registerAnySign(
      {op::ScatterND, 11, kNewestOpset, Kind::Other, lowerScatterND, scatterNDGradient});
  registerOp({own::GatherNDGrad, 1, 1, Kind::Other, lowerGatherNDGrad, gradGradient});
  registerRuntimeOp(own::GatherNDGrad.type, expandGrad);
}

} // namespace zero::ops
