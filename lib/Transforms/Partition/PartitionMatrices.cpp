//===- PartitionMatrices.cpp - optimizers of matrices ---------------------===//
//
// States and directions are computed on the rank's slice of a bucket. Each matrix has an owner, the
// rank that computes its step:
//
// - Where each slice is one whole matrix, of the same shape on all ranks, the program is that of
// any
//   rank, and a rank computes the step of its slice.
// - Where slices are whole matrices of any shapes, the program has the launches of each matrix,
//   which run on its owner alone, and each rank puts the steps of its matrices into its slice.
// - Where slices cut a matrix, directions are gathered. The launches of each matrix run on its
// owner,
//   and a sum over ranks, of which all but one have nothing to add, takes steps to the slices.
//
// Where ranks along the axis tensor have shards of a matrix, what launches need of the bucket is
// gathered along it, too: those of the owner's coordinate along data compute the same step, and
// each takes its own shard.
//
// States of whole matrices are in the owner's slices of their homes (PartitionWholeStates.cpp).
// Without owners, where states are not sharded, every rank computes all steps.
//
//===----------------------------------------------------------------------===//

#include "PartitionGradients.h"

#include "dialects/Zero/EmittedAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

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

LaunchOp GradientPartitioner::launchOf(ParameterOp parameter) const {
  if (LaunchOp direction = directionOf(parameter))
    return direction;
  return tensorStepOf(parameter);
}

LaunchOp GradientPartitioner::tensorStepOf(ParameterOp parameter) const {
  LaunchOp launch = stepOf(table.updateOf(parameter));
  if (launch && shardOf(parameter)) // behind the step, it takes the rank's shard
    launch = throughReshapes(launch.getInputs().front()).getDefiningOp<LaunchOp>();
  return launch && launch->hasAttr(kTensorStepAttr) ? launch : LaunchOp();
}

AllGatherOp GradientPartitioner::shardsOf(ParameterOp parameter) const {
  if (!shardOf(parameter))
    return {};
  for (Operation *user : usersOf(directionOf(parameter).getResults().back()))
    if (auto gather = dyn_cast<AllGatherOp>(user))
      return gather;
  return {};
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
  inputs.push_back(gradient);
  for (auto [input, like] : llvm::zip(inputs, first.getInputs()))
    input = inRows(builder, input, cast<ShapedType>(like.getType()));
  SmallVector<Type> results(ValueRange(inputs).drop_back().getTypes());
  results.push_back(cast<RankedTensorType>(inputs.back().getType()).clone(builder.getF32Type()));
  llvm::append_range(inputs, first.getInputs().drop_front(states.size() + 1));
  auto launch = inEpilogue(
      LaunchOp::create(builder, loc, results, first.getKernelAttr(), inputs, first.getCondition()));
  launch->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".direction"));
  launch.setUpdates(bucket.name);
  launch.setGradient(states.size());
  auto listed = [&](Value value, RankedTensorType type) {
    return reshapeInEpilogue(builder, value, type);
  };
  for (auto [state, value] : llvm::zip(states, launch.getResults()))
    inEpilogue(WriteOp::create(builder, loc, symbolOf(state), listed(value, state.typeOf(slice))));
  return listed(launch.getResults().back(), slice.clone(builder.getF32Type()));
}

/// Removes the writes of the states that `launch` advances.
static void eraseWrites(LaunchOp launch) {
  for (Value state : launch.getResults().drop_back())
    for (Operation *write : usersOf(state))
      write->erase();
}

/// Lets what follows from the gradient of `member` read `list`, in which the tensor begins at
/// `start`: the launches behind its direction `first`, or `first` itself, which computes its step.
/// Returns what they read.
Value GradientPartitioner::readTensor(OpBuilder &builder, ParameterOp member, LaunchOp first,
                                      Value list, int64_t start) {
  if (AllGatherOp shards = shardsOf(member))
    return readShards(builder, shards, list, start);
  auto type = cast<RankedTensorType>(list.getType());
  auto viewAs = [&](RankedTensorType shaped) {
    return inEpilogue(MemberOp::create(builder, first.getLoc(), shaped.clone(type.getElementType()),
                                       list, builder.getI64IntegerAttr(start)));
  };
  if (first->hasAttr(kTensorStepAttr)) {
    auto view = viewAs(member.getTensorType());
    first.getInputsMutable()[0].assign(view.getResult());
    first.setUpdates(*member.getHome());
    first.setGradient(0);
    first->setAttr(kGradientStartAttr,
                   builder.getDenseI64ArrayAttr({start, type.getNumElements()}));
    return view.getResult();
  }
  Value matrix = first.getResults().back();
  while (matrix.hasOneUse() && isReshape(*matrix.user_begin()))
    matrix = (*matrix.user_begin())->getResult(0);
  auto view = viewAs(cast<RankedTensorType>(matrix.getType()));
  matrix.replaceAllUsesWith(view.getResult());
  return view.getResult();
}

/// The launches that read `direction`, and those that read their results.
static SmallVector<Operation *> launchesBehind(Value direction) {
  llvm::SetVector<Operation *> launches;
  SmallVector<Value> open{direction};
  while (!open.empty())
    for (Operation *user : usersOf(open.pop_back_val()))
      if (isa<LaunchOp>(user) && launches.insert(user))
        llvm::append_range(open, user->getResults());
  return launches.takeVector();
}

Value GradientPartitioner::replaceByOwned(const Bucket &bucket, LaunchOp first, Value slice,
                                          OpBuilder &builder) {
  ParameterOp own = bucket.members.front();
  readTensor(builder, own, first, slice, 0);
  collectWholeStates(own, {});
  // The matrices of other ranks have the same launches, which are dead now.
  for (ParameterOp member : ArrayRef(bucket.members).drop_front())
    for (StateOp state : table.wholeStatesOf(member))
      table.writeOf(state).erase();
  UpdateOp update = table.updateOf(own);
  OpBuilder atUpdate(update);
  SmallVector<Value> parts{update.getGradient()};
  SmallVector<int64_t> starts{0};
  auto type = cast<RankedTensorType>(slice.getType()).clone(atUpdate.getF32Type());
  const int64_t elements = cast<RankedTensorType>(parts[0].getType()).getNumElements();
  if (const int64_t gap = type.getNumElements() - elements; gap > 0) {
    parts.push_back(zeros(atUpdate, gap, type.getElementType()));
    inEpilogue(parts.back().getDefiningOp());
    starts.push_back(elements);
  }
  return inEpilogue(BucketOp::create(atUpdate, step.getLoc(), type, parts, starts));
}

/// One boolean value: each rank reads its own of a constant.
Value GradientPartitioner::isOwner(const Bucket &bucket, int64_t owner) {
  Value &owned = owns[owner];
  if (owned)
    return owned;
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
  Location loc = step.getLoc();
  SmallVector<bool> ofRanks(ranks, false);
  ofRanks[owner] = true;
  auto type = RankedTensorType::get({ranks}, builder.getI1Type());
  Value constant = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ofRanks));
  Value own =
      OwnSliceOp::create(builder, loc, type.clone(ArrayRef<int64_t>(1)), constant, bucket.group);
  owned = tensor::CollapseShapeOp::create(builder, loc, type.clone(ArrayRef<int64_t>()), own,
                                          ArrayRef<ReassociationIndices>());
  return owned;
}

Value GradientPartitioner::replaceByConditional(const Bucket &bucket, ArrayRef<LaunchOp> launches,
                                                Value list, OpBuilder &builder) {
  const auto type = cast<RankedTensorType>(list.getType()).clone(builder.getF32Type());
  const std::string name = bucket.name + ".step";
  Value place =
      inEpilogue(ReserveOp::create(builder, step.getLoc(), type, Tier::Device)).getResult();
  Value steps = launchSet(builder, collecting[0], place, {}, name);
  // A step is put into the list where it is ready, so that few exist at a time.
  auto indices = llvm::to_vector(llvm::seq<size_t>(0, launches.size()));
  llvm::sort(indices, [&](size_t a, size_t b) {
    return positions.lookup(launches[a]) < positions.lookup(launches[b]);
  });
  for (size_t index : indices) {
    ParameterOp member = bucket.members[index];
    const int64_t start = *member.getStart() % type.getNumElements();
    Value matrix = readTensor(builder, member, launches[index], list, start);
    Value made = table.updateOf(member).getGradient();
    Value condition = isOwner(bucket, member->getAttrOfType<IntegerAttr>(kOwnerAttr).getInt());
    for (Operation *each : launchesBehind(matrix))
      cast<LaunchOp>(each).getConditionMutable().assign(condition);
    collectWholeStates(member, condition);
    OpBuilder behind(made.getContext());
    behind.setInsertionPointAfterValue(made);
    Value next = insertTensors(behind, steps, {{start, made}});
    steps = launchSet(behind, collecting[1], {steps, next}, condition, name);
  }
  return steps;
}

LogicalResult GradientPartitioner::checkOwners(const Bucket &bucket) const {
  const int64_t slice = bucket.elements / ranks;
  const bool isCut = !bucket.hasWholeSlices(ranks);
  for (ParameterOp member : bucket.members) {
    if (bucket.stateShards == 1 || !launchOf(member))
      return success();
    auto owner = member->getAttrOfType<IntegerAttr>(kOwnerAttr);
    if (!owner && !bucket.hasOwners() && tensorStepOf(member))
      continue;
    if (!owner || owner.getInt() < 0 || owner.getInt() >= ranks)
      return member.emitOpError() << "expected " << kOwnerAttr << " of 0 to " << ranks - 1
                                  << "; run zero-assign-buckets first";
    if (const int64_t stored = *member.getStart() / slice; !isCut && owner.getInt() != stored)
      return member.emitOpError() << "expected " << kOwnerAttr << " = " << stored
                                  << ", whose slice of " << bucket.name << " it is in, got "
                                  << owner.getInt();
  }
  return success();
}

Value GradientPartitioner::replaceByTensors(const Bucket &bucket, Value gradient) {
  if (!launchOf(bucket.members.front()))
    return gradient;
  SmallVector<LaunchOp> launches =
      llvm::map_to_vector(bucket.members, [&](ParameterOp member) { return launchOf(member); });
  LaunchOp first = launches.front();
  OpBuilder builder(*llvm::min_element(
      launches, [&](LaunchOp a, LaunchOp b) { return positions.lookup(a) < positions.lookup(b); }));
  if (auto kernels = first->getAttrOfType<ArrayAttr>(kTensorStepAttr)) {
    collecting = kernels;
    return computeSteps(bucket, launches, gradient, "gradient", builder);
  }
  collecting = first->getAttrOfType<ArrayAttr>(kDirectionAttr);
  Value slice = launchDirection(builder, bucket, first, gradient);
  llvm::for_each(launches, eraseWrites);
  return computeSteps(bucket, launches, slice, "direction", builder);
}

Value GradientPartitioner::computeSteps(const Bucket &bucket, ArrayRef<LaunchOp> launches,
                                        Value list, StringRef name, OpBuilder &builder) {
  Location loc = step.getLoc();
  auto own = cast<RankedTensorType>(list.getType());
  auto all = own.clone(ArrayRef<int64_t>(bucket.elements));
  const bool isOwned = own != all && bucket.hasOwners();
  if (isOwned && bucket.hasEqualSlices(ranks))
    return replaceByOwned(bucket, launches.front(), list, builder);
  if (isOwned && bucket.hasWholeSlices(ranks))
    return replaceByConditional(bucket, launches, list, builder);
  if (own != all) {
    auto gather = inEpilogue(AllGatherOp::create(builder, loc, all, list, bucket.group));
    gather->setAttr(kNameAttr, builder.getStringAttr(bucket.name + "." + name));
    list = gather.getResult();
  }
  if (isOwned) {
    Value steps = replaceByConditional(bucket, launches, list, builder);
    builder.setInsertionPointAfterValue(steps);
    auto scatter =
        inEpilogue(ReduceScatterOp::create(builder, loc, own.clone(builder.getF32Type()), steps,
                                           TypeAttr(), bucket.group, /*inPlace=*/false));
    scatter->setAttr(kNameAttr, builder.getStringAttr(bucket.name + ".step"));
    return scatter.getResult();
  }
  for (auto [parameter, launch] : llvm::zip_equal(bucket.members, launches)) {
    ParameterOp member = parameter;
    readTensor(builder, member, launch, list, *member.getStart());
  }
  return collectSteps(bucket);
}

} // namespace zero
