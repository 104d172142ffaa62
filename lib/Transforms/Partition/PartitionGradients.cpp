//===- PartitionGradients.cpp - gradients of one rank ---------------------===//

#include "PartitionGradients.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {

/// Start and length, in elements, of the gaps between the members of `bucket`.
static SmallVector<std::pair<int64_t, int64_t>> gapsOf(const Bucket &bucket) {
  SmallVector<std::pair<int64_t, int64_t>> gaps;
  int64_t end = 0;
  auto upTo = [&](int64_t start) {
    if (start > end)
      gaps.emplace_back(end, start - end);
  };
  for (ParameterOp member : bucket.members) {
    upTo(*member.getStart());
    end = *member.getStart() + member.getTensorType().getNumElements();
  }
  upTo(bucket.elements);
  return gaps;
}

GradientPartitioner::GradientPartitioner(ModuleOp module, func::FuncOp step,
                                         const BucketTable &table, int64_t ranks,
                                         const ReductionOptions &options)
    : module(module), step(step), table(table), ranks(ranks), options(options),
      epilogue(findEpilogue(step)) {
  int64_t position = 0;
  for (Operation &op : step.getBody().front()) {
    positions[&op] = position++;
    auto update = dyn_cast<UpdateOp>(op);
    hasBlocks |= isa<SquareSumOp>(op) || (update && update.getLayerwise());
  }
  for (const Bucket &bucket : table.buckets())
    for (auto [start, elements] : gapsOf(bucket))
      largestGap = std::max(largestGap, elements);
}

OpBuilder GradientPartitioner::atEpilogue() { return OpBuilder(epilogue); }

/// A view of `elements` zeros; all share one constant.
Value GradientPartitioner::zeros(OpBuilder &builder, int64_t elements, Type element) {
  Value &constant = zeroConstants[element];
  if (!constant) {
    OpBuilder atTop = OpBuilder::atBlockBegin(&step.getBody().front());
    auto type = RankedTensorType::get({largestGap}, element);
    constant =
        arith::ConstantOp::create(atTop, step.getLoc(), cast<TypedAttr>(atTop.getZeroAttr(type)));
  }
  return MemberOp::create(builder, step.getLoc(), RankedTensorType::get({elements}, element),
                          constant, builder.getI64IntegerAttr(0));
}

/// Puts zeros between the members of a bucket: sums over its blocks read them.
void GradientPartitioner::fillGaps(OpBuilder &builder, const Bucket &bucket, Type element,
                                   SmallVectorImpl<Value> &members,
                                   SmallVectorImpl<int64_t> &starts) {
  for (auto [start, elements] : gapsOf(bucket)) {
    members.push_back(zeros(builder, elements, element));
    starts.push_back(start);
  }
}

Value GradientPartitioner::buildBucket(const Bucket &bucket) {
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
  OpBuilder builder(module.getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPoint(findPrologueEnd(step)); // searches the entire step
  Type element = getElementTypeOrSelf(locals.front().getType());
  if (hasBlocks)
    fillGaps(builder, bucket, element, locals, starts);
  return BucketOp::create(builder, step.getLoc(), RankedTensorType::get({bucket.elements}, element),
                          locals, starts);
}

/// Sums `full` over ranks: into the rank's slice, in place into it, or all.
Value GradientPartitioner::reduce(OpBuilder &builder, const Bucket &bucket, Value full) {
  if (ranks == 1)
    return full;
  auto type = cast<RankedTensorType>(full.getType());
  TypeAttr arithmetic;
  // Sums over micro-batches may have another 16-bit type than --reduce-dtype is about.
  const bool isOwn = type.getElementType() == bucket.elementType;
  if ((options.inF32 || !isOwn) && type.getElementTypeBitWidth() < 32)
    arithmetic = TypeAttr::get(builder.getF32Type());
  auto slice = type.clone(ArrayRef<int64_t>(bucket.elements / ranks));
  Location loc = step.getLoc();
  Operation *reduced;
  if (bucket.gradientShards > 1 || bucket.stateShards > 1)
    reduced = ReduceScatterOp::create(builder, loc, slice, full, arithmetic, bucket.group,
                                      /*inPlace=*/bucket.gradientShards == 1);
  else
    reduced = AllReduceOp::create(builder, loc, full, arithmetic, bucket.group);
  reduced->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".gradient"));
  return reduced->getResult(0);
}

Value addUp(OpBuilder &builder, ArrayAttr kernels, Value sum, Value summand, StringRef name,
            Value key) {
  static constexpr Iterations kIterations[] = {Iterations::First, Iterations::Later};
  for (auto [iteration, kernel] : llvm::zip_first(kIterations, kernels)) {
    SmallVector<Value> operands{sum, summand};
    if (key)
      operands.push_back(key);
    auto launch = LaunchOp::create(builder, summand.getLoc(), TypeRange(sum.getType()),
                                   cast<FlatSymbolRefAttr>(kernel), operands);
    launch->setAttr(kNameAttr, builder.getStringAttr(name));
    setIterations(launch, iteration);
    sum = launch.getResult(0);
  }
  return sum;
}

/// What the sums of this micro-batch are rounded by, if `kernels` round at random; else null.
Value GradientPartitioner::roundingKey(ArrayAttr kernels) {
  if (kernels.size() == 2)
    return {};
  if (key)
    return key;
  OpBuilder builder(findPrologueEnd(step));
  Location loc = step.getLoc();
  NodeBuilder nodes(builder, loc, "gradient");
  Type i64 = builder.getI64Type();
  auto scalar = RankedTensorType::get({}, i64);
  Value count = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, ranks));
  Value inputs[] = {nodes.programInput(kStepNumber, i64), nodes.programInput(kBatchPart, i64),
                    count};
  auto launch = LaunchOp::create(builder, loc, TypeRange(scalar.clone(builder.getI32Type())),
                                 cast<FlatSymbolRefAttr>(kernels[2]), inputs);
  launch->setAttr(kNameAttr, builder.getStringAttr("rounding key"));
  return key = launch.getResult(0);
}

/// Adds `summand`, which is all of `bucket` or the rank's slice, to the accumulator. Returns the
/// current sum. If the placement does not shard gradients, the accumulator has the full size.
Value GradientPartitioner::accumulate(OpBuilder &builder, const Bucket &bucket, Value summand,
                                      ArrayAttr kernels) {
  Location loc = step.getLoc();
  auto part = cast<RankedTensorType>(summand.getType()).clone(sumType(bucket));
  auto whole = part.clone(ArrayRef<int64_t>(bucket.elements / bucket.gradientShards));
  std::string name = bucket.name + ".gradient";
  OpBuilder atParameter(bucket.members.front());
  BufferOp::create(atParameter, module.getLoc(), Role::Accumulator, name, whole,
                   bucket.gradientShards, bucket.gradientTier);
  auto symbol = FlatSymbolRefAttr::get(module.getContext(), name);
  Value stored = ReadOp::create(builder, loc, whole, symbol);
  Value sum = part == whole
                  ? stored
                  : OwnSliceOp::create(builder, loc, part, stored, bucket.group).getResult();
  return addUp(builder, kernels, sum, summand, name, roundingKey(kernels));
}

/// Sums `full` over micro-batches in bytes that are live only meanwhile, so all ranks hold whole
/// gradients of few buckets at a time, whatever the placement.
Value GradientPartitioner::sumInterleaved(OpBuilder &builder, const Bucket &bucket, Value full,
                                          ArrayAttr kernels) {
  Value summand = options.each ? reduce(builder, bucket, full) : full;
  auto type = cast<RankedTensorType>(summand.getType()).clone(sumType(bucket));
  Value place = ReserveOp::create(builder, step.getLoc(), type, Tier::Device);
  Value sum =
      addUp(builder, kernels, place, summand, bucket.name + ".gradient", roundingKey(kernels));
  if (options.each || ranks == 1)
    return sum;
  Value reduced = reduce(builder, bucket, sum);
  setIterations(reduced.getDefiningOp(), Iterations::Last);
  return reduced;
}

/// Lets the gradient of `bucket` wait for its update on the tier of the placement.
static Value waiting(const Bucket &bucket, Value gradient) {
  if (bucket.gradientTier != Tier::Device)
    gradient.getDefiningOp()->setAttr(kTierAttr,
                                      TierAttr::get(gradient.getContext(), bucket.gradientTier));
  return gradient;
}

Value GradientPartitioner::sum(const Bucket &bucket) {
  GradientOp first = table.gradientOf(bucket.members.front());
  Value full = buildBucket(bucket);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(full.getDefiningOp());
  if (!first.getAccumulate())
    return waiting(bucket, reduce(builder, bucket, full));
  if (options.interleaved)
    return waiting(bucket, sumInterleaved(builder, bucket, full, *first.getAccumulate()));
  if (options.each || bucket.gradientShards > 1)
    return accumulate(builder, bucket, reduce(builder, bucket, full), *first.getAccumulate());
  Value sum = accumulate(builder, bucket, full, *first.getAccumulate());
  OpBuilder atEnd = atEpilogue();
  Value reduced = reduce(atEnd, bucket, sum);
  if (reduced != sum)
    setIterations(reduced.getDefiningOp(), Iterations::Last);
  return reduced;
}

} // namespace zero
