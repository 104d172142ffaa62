//===- PartitionTensors.cpp - optimizers that update full tensors ---------===//
//
// These optimizers read full gradients and the norms of parameters, which only the owner of a
// tensor needs if it has one. Their updates apply the rank's slice of the result.
//
//===----------------------------------------------------------------------===//

#include "PartitionGradients.h"

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
  const bool areOwned =
      bucket.stateShards > 1 && bucket.hasOwners() && bucket.hasWholeSlices(ranks);
  if (areOwned && bucket.parameterShards != ranks)
    stored = inEpilogue(
        OwnSliceOp::create(builder, step.getLoc(), bucket.type(ranks), stored, bucket.ownerGroup));
  replaceSums(bucket, sums, stored, areOwned ? Extent::Slice : Extent::All,
              bucket.name + ".squares", builder);
  finishSums(bucket.name + ".squares", builder);
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
