//===- PartitionStep.cpp - the program of one rank ------------------------===//

#include "ParameterReads.h"
#include "PartitionGradients.h"
#include "PartitionUpdates.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Partition/Passes.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PARTITIONSTEP
#include "include/zero/Transforms/Partition/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class Partitioner {
public:
  Partitioner(ModuleOp module, func::FuncOp step, int64_t microBatches,
              const ReductionOptions &reduction, bool reshard)
      : module(module), step(step), mesh(module), ranks(mesh.dataRanks()),
        microBatches(microBatches), table(module), reads(step, table, reshard),
        gradients(module, step, table, ranks, reduction) {}

  LogicalResult run();

private:
  void createBuffers(const Bucket &bucket);
  void createHomes();
  void resolveMicroMeans();
  void resolveRanks();
  void combineLists();
  void eraseReplaced();

  ModuleOp module;
  func::FuncOp step;
  Mesh mesh;
  int64_t ranks, microBatches; ///< data-parallel ranks
  BucketTable table;
  ParameterReads reads;
  GradientPartitioner gradients;
};

} // namespace

void Partitioner::createBuffers(const Bucket &bucket) {
  OpBuilder builder(bucket.members.front());
  BufferOp::create(builder, module.getLoc(), Role::Parameter, bucket.name,
                   bucket.type(bucket.parameterShards), bucket.parameterShards,
                   bucket.parameterTier);
  for (const BucketState &state : bucket.states)
    BufferOp::create(builder, module.getLoc(), Role::Optimizer, bucket.name + state.suffix,
                     state.typeOf(bucket.type(bucket.stateShards)), bucket.stateShards,
                     bucket.stateTier);
}

/// Of states that owners have whole.
void Partitioner::createHomes() {
  llvm::DenseSet<StringAttr> made;
  for (auto state : llvm::make_early_inc_range(module.getOps<StateOp>())) {
    auto slice = state->getAttrOfType<IntegerAttr>(kSliceAttr);
    if (!slice || !made.insert(state.getHomeAttr().getAttr()).second)
      continue;
    OpBuilder builder(state);
    BufferOp::create(builder, module.getLoc(), Role::Optimizer, *state.getHome(),
                     state.getTensorType().clone(ArrayRef<int64_t>(slice.getInt())), ranks,
                     state.getPlacement()->getTier());
  }
}

/// The same elements as a list.
static RankedTensorType listOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get({type.getNumElements()}, type.getElementType());
}

/// Adds a value up over micro-batches in an accumulator `name`; returns its mean so far.
static Value accumulateValue(MicroMeanOp mean, StringRef name) {
  OpBuilder builder(mean);
  Location loc = mean.getLoc();
  Value summand = mean.getInput();
  auto type = cast<RankedTensorType>(summand.getType());
  RankedTensorType list = listOf(summand);
  SmallVector<ReassociationIndices> groups;
  if (type.getRank() > 0)
    groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(type.getRank())));
  auto symbol = FlatSymbolRefAttr::get(mean.getContext(), name);
  Operation *before = mean->getPrevNode();
  if (type.getRank() == 0)
    summand = tensor::ExpandShapeOp::create(builder, loc, list, summand, groups);
  else if (type != list)
    summand = tensor::CollapseShapeOp::create(builder, loc, list, summand, groups);
  Value sum = ReadOp::create(builder, loc, list, symbol);
  sum = addUp(builder, *mean.getAccumulate(), sum, summand, name);
  if (type.getRank() == 0)
    sum = tensor::CollapseShapeOp::create(builder, loc, type, sum, groups);
  else if (type != list)
    sum = tensor::ExpandShapeOp::create(builder, loc, type, sum, groups);
  if (isIn(mean, Segment::Prologue))
    for (Operation *op = before ? before->getNextNode() : &mean->getBlock()->front(); op != mean;
         op = op->getNextNode())
      setSegment(op, Segment::Prologue);
  return sum;
}

void Partitioner::resolveMicroMeans() {
  unsigned number = 0;
  SymbolTable symbols(module);
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  for (auto mean : llvm::make_early_inc_range(step.getBody().getOps<MicroMeanOp>())) {
    Value result = mean.getInput();
    if (mean.getAccumulate()) {
      std::string name = freeName(symbols, "micro_mean" + std::to_string(number++));
      BufferOp::create(atTop, module.getLoc(), Role::Accumulator, name, listOf(result), 1);
      result = accumulateValue(mean, name);
      for (Operation *user : mean->getUsers())
        if (isa<RankMeanOp>(user))
          setIterations(user, Iterations::Last);
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
      auto reduce = AllReduceOp::create(builder, mean.getLoc(), result, /*arithmetic=*/TypeAttr(),
                                        mesh.dataGroup(), /*mean=*/true);
      setSchedule(reduce, scheduleOf(mean));
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

/// The lists of all ranks are halved until one is left. If their number is odd, the one in the
/// middle is in both halves.
void Partitioner::combineLists() {
  for (auto launch : llvm::make_early_inc_range(step.getBody().getOps<LaunchOp>())) {
    if (!launch->hasAttr(kOverRanksAttr))
      continue;
    OpBuilder builder(launch);
    Location loc = launch.getLoc();
    Value lists = launch.getInputs().front();
    auto type = cast<RankedTensorType>(lists.getType());
    const int64_t size = type.getNumElements();
    auto typeOf = [&](int64_t number) { return type.clone(ArrayRef<int64_t>(number * size)); };
    auto take = [&](int64_t first, int64_t number) -> Value {
      return inEpilogue(MemberOp::create(builder, loc, typeOf(number), lists,
                                         builder.getI64IntegerAttr(first * size)));
    };
    if (ranks > 1) {
      auto gather = inEpilogue(AllGatherOp::create(builder, loc, typeOf(ranks), lists,
                                                   mesh.dataGroup(), Value(), /*control=*/true));
      gather->setAttr(kNameAttr, launch->getAttr(kNameAttr));
      lists = gather.getResult();
    }
    for (int64_t number = ranks; number > 1;) {
      const int64_t half = llvm::divideCeil(number, 2);
      auto combined =
          inEpilogue(LaunchOp::create(builder, loc, TypeRange(typeOf(half)), launch.getKernelAttr(),
                                      ValueRange{take(0, half), take(number - half, half)}));
      combined->setAttr(kNameAttr, launch->getAttr(kNameAttr));
      lists = combined.getResult(0);
      number = half;
    }
    launch.getResult(0).replaceAllUsesWith(lists);
    launch.erase();
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
  createHomes();
  SmallVector<std::pair<const Bucket *, Value>> trained;
  for (const Bucket &bucket : table.buckets()) {
    if (table.gradientOf(bucket.members.front()) && failed(gradients.checkOwners(bucket)))
      return failure();
    createBuffers(bucket);
    gradients.measureParameters(bucket);
    reads.rewrite(bucket);
    if (table.gradientOf(bucket.members.front()))
      trained.emplace_back(&bucket, gradients.sum(bucket));
  }
  for (auto [bucket, gradient] : trained)
    gradients.measure(*bucket, gradient);
  gradients.finishMeasuring();
  for (auto [bucket, gradient] : trained)
    if (failed(
            partitionUpdate(step, table, *bucket, gradients.replaceByTensors(*bucket, gradient))))
      return failure();
  gradients.replaceWholeStates();
  resolveMicroMeans();
  resolveRanks();
  combineLists();
  eraseReplaced();
  return success();
}

namespace {
struct PartitionStep : zero::impl::PartitionStepBase<PartitionStep> {
  using PartitionStepBase::PartitionStepBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (!module->hasAttr(kRanksAttr) || !module->hasAttr(kBucketsAttr)) {
      module.emitError() << "expected " << kRanksAttr << " and " << kBucketsAttr
                         << "; run zero-place-state and zero-assign-buckets first";
      return signalPassFailure();
    }
    ReductionOptions reduction{reduceEach, reduceInF32, module->hasAttr(kInterleaveAttr)};
    if (failed(step) ||
        failed(
            Partitioner(module, *step, microBatchesOf(module), reduction, reshardRecomputed).run()))
      signalPassFailure();
  }
};
} // namespace
