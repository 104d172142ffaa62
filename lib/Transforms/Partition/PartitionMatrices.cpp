//===- PartitionMatrices.cpp - optimizers of matrices ---------------------===//
//
// States and directions are computed on the rank's slice of a bucket. Where each slice is one whole
// matrix, of the same shape on all ranks, a rank computes the step of its own: the program is that
// of any rank. Otherwise the directions are gathered for the products, which every rank computes,
// and updates apply the rank's slice of the result.
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

/// Removes the writes of the states that `launch` advances.
static void eraseWrites(LaunchOp launch) {
  for (Value state : launch.getResults().drop_back())
    for (Operation *write : usersOf(state))
      write->erase();
}

/// Lets the launches behind `direction` read `whole`, of which the matrix begins at `start`.
static void readMatrix(OpBuilder &builder, LaunchOp direction, Value whole, int64_t start) {
  Operation *shaped = *direction.getResults().back().user_begin();
  auto view = inEpilogue(MemberOp::create(builder, direction.getLoc(),
                                          cast<RankedTensorType>(shaped->getResult(0).getType()),
                                          whole, builder.getI64IntegerAttr(start)));
  shaped->getResult(0).replaceAllUsesWith(view.getResult());
}

Value GradientPartitioner::replaceByOwned(const Bucket &bucket, LaunchOp direction, Value slice,
                                          OpBuilder &builder) {
  readMatrix(builder, direction, slice, 0);
  // The matrices of other ranks have the same launches, which are dead now.
  UpdateOp update = table.updateOf(bucket.members.front());
  OpBuilder atUpdate(update);
  SmallVector<Value> parts{update.getGradient()};
  SmallVector<int64_t> starts{0};
  auto type = cast<RankedTensorType>(slice.getType());
  const int64_t elements = cast<RankedTensorType>(parts[0].getType()).getNumElements();
  if (const int64_t gap = type.getNumElements() - elements; gap > 0) {
    parts.push_back(zeros(atUpdate, gap, type.getElementType()));
    inEpilogue(parts.back().getDefiningOp());
    starts.push_back(elements);
  }
  return inEpilogue(BucketOp::create(atUpdate, step.getLoc(), type, parts, starts));
}

Value GradientPartitioner::replaceByMatrices(const Bucket &bucket, Value gradient) {
  SmallVector<LaunchOp> launches =
      llvm::map_to_vector(bucket.members, [&](ParameterOp member) { return directionOf(member); });
  OpBuilder builder(*llvm::min_element(
      launches, [&](LaunchOp a, LaunchOp b) { return positions.lookup(a) < positions.lookup(b); }));
  Value whole = launchDirection(builder, bucket, launches.front(), gradient);
  llvm::for_each(launches, eraseWrites);
  auto all = RankedTensorType::get({bucket.elements}, builder.getF32Type());
  if (whole.getType() != all && bucket.hasOwners(ranks))
    return replaceByOwned(bucket, launches.front(), whole, builder);
  if (whole.getType() != all) {
    auto gather = inEpilogue(AllGatherOp::create(builder, step.getLoc(), all, whole, bucket.group));
    gather->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".direction"));
    whole = gather.getResult();
  }
  for (auto [parameter, launch] : llvm::zip_equal(bucket.members, launches)) {
    ParameterOp member = parameter;
    readMatrix(builder, launch, whole, *member.getStart());
  }
  return collectSteps(bucket);
}

} // namespace zero
