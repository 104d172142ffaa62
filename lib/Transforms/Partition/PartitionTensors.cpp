//===- PartitionTensors.cpp - optimizers that update full tensors ---------===//
//
// These optimizers read full gradients and the norms of parameters. Their updates apply the rank's
// slice of the result.
//
//===----------------------------------------------------------------------===//

#include "PartitionGradients.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {

void GradientPartitioner::measureParameters(const Bucket &bucket) {
  SmallVector<SquareSumOp> sums;
  for (ParameterOp member : bucket.members)
    for (ReadOp read : table.readsOf(member))
      for (Operation *user : read->getUsers())
        if (auto sum = dyn_cast<SquareSumOp>(user))
          sums.push_back(sum);
  if (sums.empty())
    return;
  // Gradients that are reduced after the last micro-batch come before all of this.
  OpBuilder builder(*llvm::min_element(sums, [&](SquareSumOp a, SquareSumOp b) {
    return positions.lookup(a) < positions.lookup(b);
  }));
  auto symbol = FlatSymbolRefAttr::get(module.getContext(), bucket.name);
  Value stored = inEpilogue(
      ReadOp::create(builder, step.getLoc(), bucket.type(bucket.parameterShards), symbol));
  replaceSums(bucket, sums, stored, bucket.name + ".squares", builder);
  finishSums(bucket.name + ".squares", builder);
}

Value GradientPartitioner::replaceByTensors(const Bucket &bucket, Value gradient) {
  auto launchOf = [&](ParameterOp member) { return stepOf(table.updateOf(member)); };
  if (!launchOf(bucket.members.front()))
    return gradient;
  if (directionOf(bucket.members.front()))
    return replaceByMatrices(bucket, gradient);
  OpBuilder builder = atEpilogue();
  Location loc = step.getLoc();
  auto slice = cast<RankedTensorType>(gradient.getType());
  auto all = slice.clone(ArrayRef<int64_t>(bucket.elements));
  Value whole = gradient;
  if (slice != all) {
    auto gather = inEpilogue(AllGatherOp::create(builder, loc, all, gradient, bucket.group));
    gather->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".gradient"));
    whole = gather.getResult();
  }
  for (ParameterOp member : bucket.members) {
    LaunchOp launch = launchOf(member);
    auto view = MemberOp::create(builder, loc, member.getTensorType().clone(slice.getElementType()),
                                 whole, member.getStartAttr());
    launch.getInputsMutable()[0].assign(inEpilogue(view).getResult());
    launch.setUpdates(bucket.name);
    launch.setGradient(0);
    launch->setAttr(kGradientStartAttr, member.getStartAttr());
  }
  return collectSteps(bucket);
}

Value GradientPartitioner::collectSteps(const Bucket &bucket) {
  OpBuilder builder(module.getContext());
  Location loc = step.getLoc();
  SmallVector<Value> steps;
  SmallVector<int64_t> starts;
  for (ParameterOp member : bucket.members) {
    steps.push_back(table.updateOf(member).getGradient());
    starts.push_back(*member.getStart());
  }
  int64_t last = -1;
  for (ParameterOp member : bucket.members)
    if (UpdateOp update = table.updateOf(member); positions.lookup(update) > last) {
      last = positions.lookup(update);
      builder.setInsertionPoint(update);
    }
  Type f32 = builder.getF32Type();
  fillGaps(builder, bucket, f32, steps, starts);
  for (Value gap : ArrayRef<Value>(steps).drop_front(bucket.members.size()))
    inEpilogue(gap.getDefiningOp());
  auto all = RankedTensorType::get({bucket.elements}, f32);
  Value made = inEpilogue(BucketOp::create(builder, loc, all, steps, starts));
  auto own = RankedTensorType::get(
      {bucket.elements / (bucket.stateShards > 1 || bucket.gradientShards > 1 ? ranks : 1)}, f32);
  return own == made.getType()
             ? made
             : inEpilogue(OwnSliceOp::create(builder, loc, own, made, bucket.group)).getResult();
}

} // namespace zero
