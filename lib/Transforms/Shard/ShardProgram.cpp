//===- ShardProgram.cpp - a plan of shards from the program ---------------===//
//
// A program of JAX says along which dimension of a parameter ranks have shards. Whether these are
// columns, rows, heads or a vocabulary follows from what reads it, as with every plan.
//
//===----------------------------------------------------------------------===//

#include "ShardPlan.h"

#include "dialects/Zero/ExporterAttrs.h"
#include "zero/Ops/Tables.h"

using namespace mlir;

namespace zero {

using ops::Cut;

/// The parts of dimension `dim` of `parameter`, if what reads its product, or the sum with it,
/// takes it apart: each is cut by itself then. JAX cuts across them and moves what is missing; the
/// values are the same.
SmallVector<int64_t> ShardPlan::partsAlong(ParameterOp parameter, int64_t dim) const {
  RankedTensorType type = parameter.getTensorType();
  for (Value read : reads.lookup(parameter.getSymNameAttr()))
    for (OpOperand &use : read.getUses()) {
      auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
      const bool isColumns = node && ops::isProduct(node) && use.getOperandNumber() == 1 &&
                             type.getRank() == 2 && dim == (node.getInt("transB", 0) ? 0 : 1);
      if (isColumns || (node && type.getRank() == 1))
        return packedParts(node, type.getDimSize(dim));
    }
  return {};
}

LogicalResult ShardPlan::readProgram() {
  for (auto parameter : module.getOps<ParameterOp>()) {
    auto dim = parameter->getAttrOfType<IntegerAttr>(kShardedDimAttr);
    if (dim && failed(cutAs(parameter, Cut{dim.getInt(), partsAlong(parameter, dim.getInt())},
                            "the program's shardings")))
      return failure();
  }
  return success();
}

} // namespace zero
