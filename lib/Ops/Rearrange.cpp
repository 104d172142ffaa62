//===- Rearrange.cpp - blocks of an image to channels and back ------------===//
//
// ONNX SpaceToDepth and DepthToSpace (in modes DCR and CRD) of [N, C, H, W], and
// EyeLike. The first two expand to a Transpose between two Reshapes.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

/// The block's side; an error unless the operand is an image that it divides.
static FailureOr<int64_t> blockOf(onnx::NodeOp node, ArrayRef<int64_t> divided, int64_t power) {
  int64_t block = node.getInt("blocksize", 0);
  ArrayRef<int64_t> shape = node.inputType(0).getShape();
  if (shape.size() != 4 || block < 1 || !llvm::isInt<32>(block))
    return nodeError(node) << "expected [N, C, H, W] and a positive blocksize, got "
                           << node.inputType(0) << " and " << block;
  for (int64_t dim : divided)
    if (shape[dim] % (power == 2 ? block * block : block) != 0)
      return nodeError(node) << "expected dimension " << dim << " to be a multiple of blocks of "
                             << block << ", got " << shape[dim];
  return block;
}

static LogicalResult expandSpaceToDepth(onnx::NodeOp node, NodeBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  FailureOr<int64_t> block = blockOf(node, {2, 3}, 1);
  if (failed(block))
    return failure();
  ArrayRef<int64_t> shape = node.inputType(0).getShape();
  Value split = builder.reshape(node.getInputs()[0], {shape[0], shape[1], shape[2] / *block, *block,
                                                      shape[3] / *block, *block});
  SmallVector<int64_t> order{0, 3, 5, 1, 2, 4};
  if (node.getString("mode", "DCR") == "CRD")
    order = {0, 1, 3, 5, 2, 4};
  results.push_back(
      builder.reshape(builder.transpose(split, order), node.outputType(0).getShape()));
  return success();
}

static LogicalResult expandDepthToSpace(onnx::NodeOp node, NodeBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  FailureOr<int64_t> block = blockOf(node, {1}, 2);
  if (failed(block))
    return failure();
  ArrayRef<int64_t> shape = node.inputType(0).getShape();
  int64_t channels = shape[1] / (*block * *block);
  bool channelsFirst = node.getString("mode", "DCR") == "CRD";
  SmallVector<int64_t> parts{shape[0], *block, *block, channels, shape[2], shape[3]};
  SmallVector<int64_t> order{0, 3, 4, 1, 5, 2};
  if (channelsFirst) {
    parts = {shape[0], channels, *block, *block, shape[2], shape[3]};
    order = {0, 1, 4, 2, 5, 3};
  }
  Value split = builder.reshape(node.getInputs()[0], parts);
  results.push_back(
      builder.reshape(builder.transpose(split, order), node.outputType(0).getShape()));
  return success();
}

static LogicalResult lowerEyeLike(onnx::NodeOp node, ValueRange, OpBuilder &builder,
                                  Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Type element = node.outputType(0).getElementType();
  int64_t diagonal = node.getInt("k", 0);
  lowered.results.push_back(
      elementwise(b, {}, node.outputType(0), [&](ImplicitLocOpBuilder &in, ValueRange) -> Value {
        Value row = linalg::IndexOp::create(in, 0), column = linalg::IndexOp::create(in, 1);
        Value shift = arith::ConstantIndexOp::create(in, diagonal);
        Value onDiagonal = arith::CmpIOp::create(in, arith::CmpIPredicate::eq, column,
                                                 arith::AddIOp::create(in, row, shift).getResult());
        return arith::SelectOp::create(in, onDiagonal, constant(in, element, 1),
                                       constant(in, element, 0));
      }));
  return success();
}

void registerRearrange() {
  registerOp(
      {{"", "SpaceToDepth"}, 7, kNewestOpset, Kind::Other, nullptr, nullptr, expandSpaceToDepth});
  registerOp(
      {{"", "DepthToSpace"}, 7, kNewestOpset, Kind::Other, nullptr, nullptr, expandDepthToSpace});
  registerAnySign(OpDef{{"", "EyeLike"}, 9, kNewestOpset, Kind::Other, lowerEyeLike}.piecewise());
}

} // namespace zero::ops
