//===- PartitionStep.cpp - the program of one rank ------------------------===//

#include "ParameterReads.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PARTITIONSTEP
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class Partitioner {
public:
  Partitioner(ModuleOp module, func::FuncOp step, int64_t ranks)
      : module(module), step(step), ranks(ranks), table(module, ranks), reads(step, table) {
    int64_t position = 0;
    for (Operation &op : step.getBody().front())
      positions[&op] = position++;
  }

  LogicalResult run();

private:
  void createBuffers(const Bucket &bucket);
  Value reduceGradients(const Bucket &bucket);
  LogicalResult update(const Bucket &bucket, Value gradient);
  void resolveRanks();
  void eraseReplaced();

  Value read(OpBuilder &builder, StringRef symbol, RankedTensorType type) {
    return ReadOp::create(builder, step.getLoc(), type,
                          FlatSymbolRefAttr::get(module.getContext(), symbol));
  }

  ModuleOp module;
  func::FuncOp step;
  int64_t ranks;
  BucketTable table;
  ParameterReads reads;
  llvm::DenseMap<Operation *, int64_t> positions;
};

} // namespace

void Partitioner::createBuffers(const Bucket &bucket) {
  OpBuilder builder(bucket.members.front());
  BufferOp::create(builder, module.getLoc(), Role::Parameter, bucket.name,
                   bucket.type(bucket.parameterShards), bucket.parameterShards);
  for (const std::string &suffix : bucket.stateSuffixes)
    BufferOp::create(builder, module.getLoc(), Role::Optimizer, bucket.name + suffix,
                     bucket.type(bucket.stateShards), bucket.stateShards);
}

/// Builds the bucket of gradients where its last member is ready and reduces it.
/// Returns what the update takes: the rank's slice, or all of it.
Value Partitioner::reduceGradients(const Bucket &bucket) {
  Operation *last = nullptr;
  SmallVector<Value> locals;
  SmallVector<int64_t> starts;
  for (ParameterOp member : bucket.members) {
    Value local = table.gradientOf(member).getLocal();
    Operation *producer = local.getDefiningOp();
    if (producer && (!last || positions[producer] > positions[last]))
      last = producer;
    locals.push_back(local);
    starts.push_back(*member.getStart());
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
  if (last)
    builder.setInsertionPointAfter(last);
  Location loc = step.getLoc();
  Value full = BucketOp::create(builder, loc, bucket.type(1), locals, starts);
  if (ranks == 1)
    return full;
  Operation *reduced;
  if (bucket.gradientShards > 1)
    reduced = ReduceScatterOp::create(builder, loc, bucket.type(ranks), full, /*in_place=*/false);
  else if (bucket.stateShards > 1)
    reduced = ReduceScatterOp::create(builder, loc, bucket.type(ranks), full, /*in_place=*/true);
  else
    reduced = AllReduceOp::create(builder, loc, bucket.type(1), full, /*mean=*/false);
  reduced->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".gradient"));
  return reduced->getResult(0);
}

LogicalResult Partitioner::update(const Bucket &bucket, Value gradient) {
  UpdateOp first = table.updateOf(bucket.members.front());
  for (ParameterOp member : bucket.members) {
    UpdateOp other = table.updateOf(member);
    if (!other || other.getKernel() != first.getKernel() ||
        other.getScalars() != first.getScalars())
      return member.emitError() << "expected one update by @" << first.getKernel()
                                << " as for the other parameters of " << bucket.name;
  }
  OpBuilder builder(table.updateOf(bucket.members.back()));
  Location loc = first.getLoc();
  auto sliceType = cast<RankedTensorType>(gradient.getType());
  bool sliced = sliceType != bucket.type(1);
  Value stored = read(builder, bucket.name, bucket.type(bucket.parameterShards));
  bool gatherAfter = sliced && bucket.parameterShards == 1;
  SmallVector<Value> operands{
      gatherAfter ? Value(OwnSliceOp::create(builder, loc, sliceType, stored)) : stored};
  for (const std::string &suffix : bucket.stateSuffixes)
    operands.push_back(read(builder, bucket.name + suffix, sliceType));
  unsigned numResults = operands.size();
  operands.push_back(gradient);
  llvm::append_range(operands, first.getScalars());
  auto launch = LaunchOp::create(builder, loc, SmallVector<Type>(numResults, sliceType),
                                 first.getKernelAttr(), operands);
  launch->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".update"));
  launch->setAttr(kUpdatesAttr, FlatSymbolRefAttr::get(module.getContext(), bucket.name));
  Value updated = launch.getResult(0);
  if (gatherAfter) {
    auto gather = AllGatherOp::create(builder, loc, bucket.type(1), updated, stored);
    gather->setAttr(kNameAttr, builder.getStringAttr(bucket.name));
    updated = gather.getResult();
  }
  auto write = [&](StringRef symbol, Value value) {
    WriteOp::create(builder, loc, FlatSymbolRefAttr::get(module.getContext(), symbol), value);
  };
  write(bucket.name, updated);
  for (auto [suffix, value] : llvm::zip(bucket.stateSuffixes, launch.getResults().drop_front()))
    write(bucket.name + suffix, value);
  for (Operation *op = stored.getDefiningOp(); op; op = op->getNextNode()) {
    if (isa<UpdateOp>(op))
      break;
    op->setAttr(kEpilogueAttr, builder.getUnitAttr());
  }
  return success();
}

void Partitioner::resolveRanks() {
  for (auto mean : llvm::make_early_inc_range(step.getBody().getOps<RankMeanOp>())) {
    OpBuilder builder(mean);
    Value result = mean.getInput();
    if (ranks > 1) {
      auto reduce =
          AllReduceOp::create(builder, mean.getLoc(), result.getType(), result, /*mean=*/true);
      reduce->setAttr(kNameAttr, builder.getStringAttr("mean over ranks"));
      result = reduce.getResult();
    }
    mean.getResult().replaceAllUsesWith(result);
    mean.erase();
  }
  for (auto share : llvm::make_early_inc_range(step.getBody().getOps<RankShareOp>())) {
    OpBuilder builder(share);
    auto type = cast<RankedTensorType>(share.getResult().getType());
    auto value =
        DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), 1.0 / ranks));
    share.getResult().replaceAllUsesWith(arith::ConstantOp::create(builder, share.getLoc(), value));
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
  for (const Bucket &bucket : table.buckets()) {
    createBuffers(bucket);
    reads.rewrite(bucket);
    if (!table.gradientOf(bucket.members.front()))
      continue;
    if (failed(update(bucket, reduceGradients(bucket))))
      return failure();
  }
  resolveRanks();
  eraseReplaced();
  return success();
}

namespace {
struct PartitionStep : zero::impl::PartitionStepBase<PartitionStep> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    auto ranks = module->getAttrOfType<IntegerAttr>(kRanksAttr);
    if (!ranks || !module->hasAttr(kBucketsAttr)) {
      module.emitError() << "expected " << kRanksAttr << " and " << kBucketsAttr
                         << "; run zero-place-state and zero-assign-buckets first";
      return signalPassFailure();
    }
    if (failed(step) || failed(Partitioner(module, *step, ranks.getInt()).run()))
      signalPassFailure();
  }
};
} // namespace
