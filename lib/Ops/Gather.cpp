//===- Gather.cpp ---------------------------------------------------------===//
//
// ONNX: Gather. Indices may be negative; one outside of
// [-extent, extent) is an error, at compile time where the indices are constant.
// Gradient: zero::GatherGrad(dy, indices) {axis, shape}, which adds the slices
// of dy to those of a tensor of zeros of `shape`, one after the other.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerGather(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType data = node.inputType(0), result = node.outputType(0);
  int64_t axis = normalAxis(node.getInt("axis", 0), data.getRank());
  int64_t extent = data.getDimSize(axis), indexRank = node.inputType(1).getRank();
  if (failed(checkIndices(node, 1, inputs[1], extent, b, lowered)))
    return failure();
  auto map = AffineMap::getMultiDimIdentityMap(result.getRank(), b.getContext())
                 .getSliceMap(axis, indexRank);
  lowered.results.push_back(
      elementwise(b, inputs[1], map, result, [&](ImplicitLocOpBuilder &s, ValueRange elements) {
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < data.getRank(); ++dim) {
          int64_t loop = dim < axis ? dim : dim + indexRank - 1;
          at.push_back(dim == axis ? boundedIndex(s, elements[0], extent)
                                   : linalg::IndexOp::create(s, loop).getResult());
        }
        return tensor::ExtractOp::create(s, inputs[0], at).getResult();
      }));
  return success();
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  int64_t axis = normalAxis(node.getInt("axis", 0), node.inputType(0).getRank());
  return gatherGradient(node, dy, wanted, builder, grads, "GatherGrad", builder.attr("axis", axis));
}

static LogicalResult lowerGatherGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType result = node.outputType(0);
  ArrayRef<int64_t> shape = result.getShape();
  int64_t axis = node.getInt("axis", 0), extent = shape[axis];
  int64_t blocks = product(shape.take_front(axis)), inner = product(shape.drop_front(axis + 1));
  int64_t rows = node.inputType(1).getNumElements();
  Value indices = reshaped(b, inputs[1], node.inputType(1).clone({rows}));
  Value updates = reshaped(b, inputs[0], result.clone({blocks, rows, inner}));
  Value zeros = filled(b, result.clone({blocks, extent, inner}), 0);
  Value sums =
      scatterRows(b, zeros, updates, Combine::Sum, [&](ImplicitLocOpBuilder &s, Value, Value row) {
        Value index = tensor::ExtractOp::create(s, indices, row);
        return boundedIndex(s, index, extent);
      });
  lowered.results.push_back(reshaped(b, sums, result));
  return success();
}

void registerGather() {
  registerAnySign(moving({"", "Gather", 7, kNewestOpset, Kind::Other, lowerGather, gradient}));
  registerOp({kZeroDomain, "GatherGrad", 1, 1, Kind::Other, lowerGatherGrad});
}

} // namespace zero::ops
