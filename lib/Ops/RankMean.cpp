//===- RankMean.cpp - the mean of a value over ranks ----------------------===//
//
// zero: RankMean(x): zero.rank_mean as a node, so that gradients flow through it.
// Gradient: with m = 1/N sum of x_s and a loss that is summed over ranks, the part
// of rank s is 1/N times the sum over ranks of what each has for m: RankMean again.
//
// zero: WholeBatch(mean, x): the mean of x over ranks and micro-batches, which is computed apart.
// Gradient: that of x is the gradient of the mean. For a loss that is a function of means, and
// averaged over the parts of the batch as its gradient is, each part adds the gradient of its own x
// at the common mean: nothing is exchanged.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "dialects/Zero/Zero.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerRankMean(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  lowered.results.push_back(
      RankMeanOp::create(builder, node.getLoc(), inputs[0].getType(), inputs[0]));
  return success();
}

static LogicalResult rankMeanGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool>,
                                      NodeBuilder &builder, MutableArrayRef<Value> grads) {
  grads[0] = builder.create(own::RankMean, node.inputType(0), dy[0]).getResult(0);
  return success();
}

/// Reads x as well: the loss depends on forward of this part, as its gradient does.
static LogicalResult lowerWholeBatch(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                     Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0),
                                        [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; }));
  return success();
}

/// x hands the gradient on; that it also is part of the mean, computed apart, is not counted twice.
static LogicalResult wholeBatchGradient(onnx::NodeOp, ValueRange dy, ArrayRef<bool> wanted,
                                        NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = builder.none();
  if (wanted[1])
    grads[1] = dy[0];
  return success();
}

void registerRankMean() {
  // Partition converts it to a collective of the step.
  registerOp({own::RankMean, 1, 1, Kind::Exchange, lowerRankMean, rankMeanGradient});
  registerOp(OpDef{own::WholeBatch, 1, 1, Kind::Elementwise, lowerWholeBatch, wholeBatchGradient}
                 .keepsWide());
}

} // namespace zero::ops
