//===- RankMean.cpp - the mean of a value over ranks ----------------------===//
//
// zero: RankMean(x): zero.rank_mean as a node, so that gradients flow through it.
// Gradient: with m = 1/N sum of x_s and a loss that is summed over ranks, the part
// of rank s is 1/N times the sum over ranks of what each has for m: RankMean again.
//
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Ops/OpTable.h"

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

void registerRankMean() {
  // Partition converts it to a collective of the step.
  registerOp({own::RankMean, 1, 1, Kind::Exchange, lowerRankMean, rankMeanGradient});
}

} // namespace zero::ops
