//===- PartitionMatrices.cpp - optimizers of matrices ---------------------===//
//
// States and directions are computed on the rank's slice of a bucket. The directions are gathered
// for the products, which every rank computes, and updates apply the rank's slice of the result.
//
//===----------------------------------------------------------------------===//

#include "PartitionGradients.h"

#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Step/StepGradients.h"

using namespace mlir;

namespace zero {

/// The ops that read `value`, also through reshapes.
static SmallVector<Operation *> usersOf(Value value) {
  SmallVector<Operation *> users;
  for (Operation *user : value.getUsers()) {
    if (isReshape(user))
      llvm::append_range(users, usersOf(user->getResult(0)));
    else
      users.push_back(user);
  }
  return users;
}

LaunchOp GradientPartitioner::directionOf(ParameterOp parameter) const {
  for (Operation *user : usersOf(table.gradientOf(parameter).getResult()))
    if (user->hasAttr(kDirectionAttr))
      return cast<LaunchOp>(user);
  return {};
}

/// Launches the kernel of `first`, which is that of all members, on the rank's slice.
Value GradientPartitioner::launchDirection(OpBuilder &builder, const Bucket &bucket, LaunchOp first,
                                           Value gradient) {
  Location loc = step.getLoc();
  auto slice = cast<RankedTensorType>(gradient.getType());
  ArrayRef<BucketState> states =
      ArrayRef(bucket.states)
          .drop_front(ownStates(bucket, table.updateOf(bucket.members.front())).size());
  auto symbolOf = [&](const BucketState &state) {
    return FlatSymbolRefAttr::get(module.getContext(), bucket.name + state.suffix);
  };
  SmallVector<Value> inputs;
  for (const BucketState &state : states)
    inputs.push_back(
        inEpilogue(ReadOp::create(builder, loc, state.typeOf(slice), symbolOf(state))));
  SmallVector<Type> results(ValueRange(inputs).getTypes());
  results.push_back(slice.clone(builder.getF32Type()));
  inputs.push_back(gradient);
  llvm::append_range(inputs, first.getInputs().drop_front(states.size() + 1));
  auto launch = inEpilogue(
      LaunchOp::create(builder, loc, results, first.getKernelAttr(), inputs, first.getCondition()));
  launch->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".direction"));
  launch.setUpdates(bucket.name);
  launch.setGradient(states.size());
  for (auto [state, value] : llvm::zip(states, launch.getResults()))
    inEpilogue(WriteOp::create(builder, loc, symbolOf(state), value));
  return launch.getResults().back();
}

Value GradientPartitioner::replaceByMatrices(const Bucket &bucket, Value gradient) {
  SmallVector<LaunchOp> launches =
      llvm::map_to_vector(bucket.members, [&](ParameterOp member) { return directionOf(member); });
  OpBuilder builder(*llvm::min_element(
      launches, [&](LaunchOp a, LaunchOp b) { return positions.lookup(a) < positions.lookup(b); }));
  Value whole = launchDirection(builder, bucket, launches.front(), gradient);
  auto all = RankedTensorType::get({bucket.elements}, builder.getF32Type());
  if (whole.getType() != all) {
    auto gather = inEpilogue(AllGatherOp::create(builder, step.getLoc(), all, whole, bucket.group));
    gather->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".direction"));
    whole = gather.getResult();
  }
  for (auto [parameter, launch] : llvm::zip_equal(bucket.members, launches)) {
    ParameterOp member = parameter;
    Operation *shaped = *launch.getResults().back().user_begin();
    auto view = inEpilogue(MemberOp::create(builder, member.getLoc(),
                                            cast<RankedTensorType>(shaped->getResult(0).getType()),
                                            whole, member.getStartAttr()));
    shaped->getResult(0).replaceAllUsesWith(view.getResult());
    for (Value state : launch.getResults().drop_back())
      for (Operation *write : usersOf(state))
        write->erase();
  }
  return collectSteps(bucket);
}

} // namespace zero
