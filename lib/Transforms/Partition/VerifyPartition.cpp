//===- VerifyPartition.cpp - verify the partitioned step ------------------===//

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Partition/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYPARTITION
#include "include/zero/Transforms/Partition/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct VerifyPartition : zero::impl::VerifyPartitionBase<VerifyPartition> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step) || failed(checkOps(*step)) || failed(checkHomes(module)))
      signalPassFailure();
  }

  /// No op that partition resolves is left, and the epilogue comes last.
  static LogicalResult checkOps(func::FuncOp step) {
    Segment segment = Segment::Prologue;
    for (Operation &op : step.getBody().front()) {
      if (isa<GradientOp, UpdateOp, RankMeanOp, RankShareOp, MicroMeanOp, SquareSumOp>(op))
        return op.emitOpError("is left after partition");
      bool hasNoCommand = isa<ReadOp>(op) || op.hasTrait<OpTrait::ConstantLike>() ||
                          op.hasTrait<OpTrait::IsTerminator>();
      const Segment own = segmentOf(&op);
      if (own < segment && !hasNoCommand)
        return op.emitOpError(own == Segment::MicroBatch
                                  ? "of the micro-batch follows the epilogue"
                                  : "of the prologue follows the micro-batch");
      // Views and constants are not executed, so they open no segment.
      if (!hasNoCommand && !isView(&op))
        segment = std::max(segment, own);
    }
    return success();
  }

  /// A whole state is a tensor of its own on each rank unless it has an owner.
  static bool isInBuffer(StateOp state) {
    return !state->hasAttr(kWholeAttr) || state.getPlacement()->isSharded();
  }

  /// Every parameter and its states are inside a buffer of their placement.
  LogicalResult checkHomes(ModuleOp module) {
    SymbolTable symbols(module);
    if (!module->hasAttr(kRanksAttr))
      return module.emitError() << "expected " << kRanksAttr << "; run zero-place-state first";
    const Mesh mesh(module);
    auto check = [&](Operation *op, FlatSymbolRefAttr home, std::optional<int64_t> start,
                     PlacementAttr placement, RankedTensorType type) -> LogicalResult {
      auto buffer = home ? symbols.lookup<BufferOp>(home.getAttr()) : BufferOp();
      if (!buffer || !start || !placement)
        return op->emitOpError("has no buffer after partition");
      const int64_t shards = mesh.shardsOf(placement);
      int64_t capacity = buffer.getTensorType().getNumElements() * shards;
      if (int64_t(buffer.getShards()) == shards && *start + type.getNumElements() <= capacity)
        return success();
      return op->emitOpError() << "expected " << shards << " shards and space for elements "
                               << *start << " to " << *start + type.getNumElements() << " in "
                               << home << ", got " << buffer.getShards() << " and " << capacity;
    };
    for (Operation &op : *module.getBody()) {
      LogicalResult result = success();
      if (auto parameter = dyn_cast<ParameterOp>(op))
        result = check(&op, parameter.getHomeAttr(), parameter.getStart(),
                       parameter.getPlacementAttr(), parameter.getTensorType());
      else if (auto state = dyn_cast<StateOp>(op); state && state.getOf() && isInBuffer(state))
        result = check(&op, state.getHomeAttr(), state.getStart(), state.getPlacementAttr(),
                       state.getTensorType());
      if (failed(result))
        return failure();
    }
    return success();
  }
};
} // namespace
