//===- PartitionStep.cpp - the program of one rank ------------------------===//

#include "ParameterReads.h"
#include "PartitionGradients.h"
#include "PartitionUpdates.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PARTITIONSTEP
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class Partitioner {
public:
  Partitioner(ModuleOp module, func::FuncOp step, int64_t ranks, int64_t microBatches,
              const ReductionOptions &reduction)
      : module(module), step(step), ranks(ranks), microBatches(microBatches), table(module, ranks),
        reads(step, table), gradients(module, step, table, ranks, reduction) {}

  LogicalResult run();

private:
  void createBuffers(const Bucket &bucket);
  void resolveMicroMeans();
  void resolveRanks();
  void eraseReplaced();

  ModuleOp module;
  func::FuncOp step;
  int64_t ranks, microBatches;
  BucketTable table;
  ParameterReads reads;
  GradientPartitioner gradients;
};

} // namespace

void Partitioner::createBuffers(const Bucket &bucket) {
  OpBuilder builder(bucket.members.front());
  BufferOp::create(builder, module.getLoc(), Role::Parameter, bucket.name,
                   bucket.type(bucket.parameterShards), bucket.parameterShards);
  for (const BucketState &state : bucket.states)
    BufferOp::create(builder, module.getLoc(), Role::Optimizer, bucket.name + state.suffix,
                     bucket.type(bucket.stateShards).clone(state.elementType), bucket.stateShards);
}

/// Adds scalars up over micro-batches, in accumulators of their own.
void Partitioner::resolveMicroMeans() {
  unsigned number = 0;
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  for (auto mean : llvm::make_early_inc_range(step.getBody().getOps<MicroMeanOp>())) {
    Value result = mean.getInput();
    if (mean.getAccumulate()) {
      OpBuilder builder(mean);
      Location loc = mean.getLoc();
      auto scalar = cast<RankedTensorType>(result.getType());
      auto list = RankedTensorType::get({1}, scalar.getElementType());
      std::string name = "micro_mean" + std::to_string(number++);
      BufferOp::create(atTop, module.getLoc(), Role::Accumulator, name, list, 1);
      Attribute prologue = mean->getAttr(kPrologueAttr);
      auto inSegment = [&](Operation *op) {
        if (prologue)
          op->setAttr(kPrologueAttr, prologue);
        return op->getResult(0);
      };
      ArrayRef<ReassociationIndices> noGroups;
      Value summand =
          scalar == list
              ? result
              : inSegment(tensor::ExpandShapeOp::create(builder, loc, list, result, noGroups));
      Value sum = inSegment(
          ReadOp::create(builder, loc, list, FlatSymbolRefAttr::get(module.getContext(), name)));
      for (auto [kernel, when] :
           llvm::zip_first(*mean.getAccumulate(), ArrayRef<StringRef>{"first", "later"})) {
        auto launch = LaunchOp::create(builder, loc, TypeRange(list),
                                       cast<FlatSymbolRefAttr>(kernel), ValueRange{sum, summand});
        launch->setAttr(kNameAttr, builder.getStringAttr(name));
        launch->setAttr(kWhenAttr, builder.getStringAttr(when));
        sum = inSegment(launch);
      }
      result =
          scalar == list
              ? sum
              : inSegment(tensor::CollapseShapeOp::create(builder, loc, scalar, sum, noGroups));
      for (Operation *user : mean->getUsers())
        if (isa<RankMeanOp>(user))
          user->setAttr(kWhenAttr, builder.getStringAttr("last"));
    }
    mean.getResult().replaceAllUsesWith(result);
    mean.erase();
  }
}

void Partitioner::resolveRanks() {
  for (auto mean : llvm::make_early_inc_range(step.getBody().getOps<RankMeanOp>())) {
    OpBuilder builder(mean);
    Value result = mean.getInput();
    if (ranks > 1) {
      auto reduce = AllReduceOp::create(builder, mean.getLoc(), result.getType(), result,
                                        /*mean=*/true, /*arithmetic=*/TypeAttr());
      for (StringRef name : {kPrologueAttr, kEpilogueAttr, kWhenAttr})
        if (Attribute value = mean->getAttr(name))
          reduce->setAttr(name, value);
      reduce->setAttr(kNameAttr, builder.getStringAttr("mean over ranks"));
      result = reduce.getResult();
    }
    mean.getResult().replaceAllUsesWith(result);
    mean.erase();
  }
  for (auto share : llvm::make_early_inc_range(step.getBody().getOps<RankShareOp>())) {
    OpBuilder builder(share);
    auto type = cast<RankedTensorType>(share.getResult().getType());
    double value = 1.0 / double(ranks * microBatches);
    auto splat = DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value));
    share.getResult().replaceAllUsesWith(arith::ConstantOp::create(builder, share.getLoc(), splat));
    share.erase();
  }
}

/// Drops the updates, gradients and reads that buckets replaced.
void Partitioner::eraseReplaced() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front()))) {
    if (isa<UpdateOp, GradientOp>(op) || isOpTriviallyDead(&op))
      op.erase();
  }
}

LogicalResult Partitioner::run() {
  SmallVector<std::pair<const Bucket *, Value>> trained;
  for (const Bucket &bucket : table.buckets()) {
    createBuffers(bucket);
    reads.rewrite(bucket);
    if (table.gradientOf(bucket.members.front()))
      trained.emplace_back(&bucket, gradients.sum(bucket));
  }
  for (auto [bucket, gradient] : trained)
    gradients.measure(*bucket, gradient);
  for (auto [bucket, gradient] : trained)
    if (failed(partitionUpdate(step, table, *bucket, gradient)))
      return failure();
  resolveMicroMeans();
  resolveRanks();
  eraseReplaced();
  return success();
}

namespace {
struct PartitionStep : zero::impl::PartitionStepBase<PartitionStep> {
  using PartitionStepBase::PartitionStepBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    auto ranks = module->getAttrOfType<IntegerAttr>(kRanksAttr);
    if (!ranks || !module->hasAttr(kBucketsAttr)) {
      module.emitError() << "expected " << kRanksAttr << " and " << kBucketsAttr
                         << "; run zero-place-state and zero-assign-buckets first";
      return signalPassFailure();
    }
    auto microBatches = module->getAttrOfType<IntegerAttr>(kMicroBatchesAttr);
    ReductionOptions reduction{reduceEach, reduceInF32};
    if (failed(step) || failed(Partitioner(module, *step, ranks.getInt(),
                                           microBatches ? microBatches.getInt() : 1, reduction)
                                   .run()))
      signalPassFailure();
  }
};
} // namespace
