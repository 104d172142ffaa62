//===- ParameterReads.cpp - reads of parameters through buckets -----------===//

#include "ParameterReads.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Place/LayerRuns.h"

using namespace mlir;

namespace zero {

/// Whether `op` is a launch of a layer that backward recomputes.
static bool isRecomputed(Operation *op) {
  return isa_and_nonnull<IntegerAttr>(op->getAttr(kRecomputeAttr));
}

ParameterReads::ParameterReads(func::FuncOp step, const BucketTable &table, bool reshard)
    : step(step), table(table), reshard(reshard), uses(findParameterUses(step)) {
  int64_t position = 0, changes = 0;
  int64_t layer = -1; // that was recomputed last
  for (Operation &op : step.getBody().front()) {
    positions[&op] = position++;
    if (isRecomputed(&op) && layerOf(&op) != layer) {
      layer = layerOf(&op);
      ++changes;
    }
    layerChanges[&op] = changes;
  }
  for (auto &[symbol, use] : uses) {
    if (!use.backward.empty())
      firstUses[0].push_back(positions[use.backward.front()]);
    if (!use.forward.empty())
      firstUses[1].push_back(positions[use.forward.front()]);
  }
  for (SmallVector<int64_t> &list : firstUses)
    llvm::sort(list);
}

/// Reads the part of `bucket` that a rank stores.
static Value readBucket(OpBuilder &builder, const Bucket &bucket) {
  return ReadOp::create(builder, builder.getInsertionBlock()->getParentOp()->getLoc(),
                        bucket.type(bucket.parameterShards),
                        FlatSymbolRefAttr::get(builder.getContext(), bucket.name));
}

/// Points the operands of `user` that read a member at the bucket's view of it,
/// rebuilding the reshapes between.
void ParameterReads::redirect(Operation *user, const llvm::DenseMap<StringAttr, Value> &members) {
  for (OpOperand &operand : user->getOpOperands()) {
    auto read = throughReshapes(operand.get()).getDefiningOp<ReadOp>();
    Value value = read ? members.lookup(read.getSymbolAttr().getAttr()) : Value();
    if (!value)
      continue;
    OpBuilder builder(user);
    operand.set(viewLike(operand.get(), read, value, builder));
  }
}

/// Whether a parameter that is alone in its bucket is gathered for either of two uses
/// that follow each other: another one is used for the first time in between.
bool ParameterReads::isFarApart(Operation *from, Operation *to, bool forward) const {
  const auto *next = llvm::upper_bound(firstUses[forward], positions.lookup(from));
  return next != firstUses[forward].end() && *next < positions.lookup(to);
}

/// Whether this holds for any bucket: several layers are recomputed before the backward of one, or
/// each reshards what it gathered.
bool ParameterReads::isRunApart(Operation *from, Operation *to) const {
  if (reshard && isRecomputed(from) != isRecomputed(to))
    return true;
  const int64_t changes = layerChanges.lookup(to) - layerChanges.lookup(from);
  return isRecomputed(from) ? changes > 0 : changes > 1;
}

/// The users of a bucket's parameters in one direction, in groups that one gather serves. The
/// prologue has its own. A layer that is recomputed alone and its backward are one group, unless it
/// reshards.
SmallVector<ParameterReads::Users> ParameterReads::clusters(const Bucket &bucket, bool forward) {
  Users users;
  for (ParameterOp member : bucket.members) {
    const ParameterUse &use = uses[member.getSymNameAttr()];
    llvm::append_range(users, forward ? use.forward : use.backward);
  }
  llvm::sort(users, [&](Operation *a, Operation *b) { return positions[a] < positions[b]; });
  SmallVector<Users> result;
  for (Operation *user : users) {
    Operation *last = result.empty() ? nullptr : result.back().back();
    bool again = last && (isRecomputed(last) || isRecomputed(user));
    if (!last || segmentOf(last) != segmentOf(user) ||
        (again ? isRunApart(last, user)
               : bucket.members.size() == 1 && isFarApart(last, user, forward)))
      result.emplace_back();
    result.back().push_back(user);
  }
  return result;
}

/// The groups of users that share a gather. If backward starts before forward has ended, as with a
/// loss by rows, two gathers would be live there at the same time.
SmallVector<ParameterReads::Users> ParameterReads::groups(const Bucket &bucket) {
  SmallVector<Users> result = clusters(bucket, /*forward=*/true);
  for (Users &users : clusters(bucket, /*forward=*/false)) {
    if (result.empty() || positions[result.back().back()] < positions[users.front()]) {
      result.push_back(std::move(users));
      continue;
    }
    Users &both = result.back();
    llvm::append_range(both, users);
    llvm::sort(both, [&](Operation *a, Operation *b) { return positions[a] < positions[b]; });
  }
  return result;
}

/// The launches between steps of matrices and updates that read whole members of `bucket`.
ParameterReads::Users ParameterReads::readersOfSteps(const Bucket &bucket) {
  Users users;
  for (ParameterOp member : bucket.members)
    for (ReadOp read : table.readsOf(member))
      for (Operation *user : read->getUsers())
        if (isIn(user, Segment::Epilogue) && isa<LaunchOp>(user))
          users.push_back(user);
  llvm::sort(users, [&](Operation *a, Operation *b) { return positions[a] < positions[b]; });
  return users;
}

/// Alone, a rank has all of a bucket, if on another tier.
static TransferOp bringToDevice(OpBuilder &builder, const Bucket &bucket, Value stored) {
  Tier from = bucket.parameterTier;
  auto hop = [&](Tier to) {
    auto made =
        TransferOp::create(builder, stored.getLoc(), stored.getType(), stored, Value(), from, to);
    made->setAttr(kNameAttr, builder.getStringAttr(bucket.name));
    stored = made.getResult();
    from = to;
    return made;
  };
  if (from == Tier::Nvme)
    hop(Tier::Host);
  return hop(Tier::Device);
}

void ParameterReads::gatherFor(const Bucket &bucket, ArrayRef<Operation *> users) {
  OpBuilder builder(users.front());
  Value shard = readBucket(builder, bucket);
  Location loc = users.front()->getLoc();
  Operation *whole =
      bucket.parameterShards > 1
          ? AllGatherOp::create(builder, loc, bucket.type(1), shard, bucket.parameterGroup)
          : bringToDevice(builder, bucket, shard).getOperation();
  whole->setAttr(kNameAttr, builder.getStringAttr(bucket.name));
  llvm::DenseMap<StringAttr, Value> members;
  for (ParameterOp member : bucket.members)
    members[member.getSymNameAttr()] =
        MemberOp::create(builder, member.getLoc(), member.getTensorType(), whole->getResult(0),
                         member.getStartAttr());
  for (Operation *user : users)
    redirect(user, members);
  if (const Segment segment = segmentOf(users.front()); segment != Segment::MicroBatch)
    for (Operation *op = shard.getDefiningOp(); op != users.front(); op = op->getNextNode())
      setSegment(op, segment);
}

void ParameterReads::rewrite(const Bucket &bucket) {
  if (bucket.parameterShards > 1 || bucket.parameterTier != Tier::Device) {
    for (ArrayRef<Operation *> users : groups(bucket))
      gatherFor(bucket, users);
    if (Users users = readersOfSteps(bucket); !users.empty())
      gatherFor(bucket, users);
    return;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
  Value full = readBucket(builder, bucket);
  for (ParameterOp member : bucket.members) {
    Value view = MemberOp::create(builder, member.getLoc(), member.getTensorType(), full,
                                  member.getStartAttr());
    for (ReadOp old : table.readsOf(member))
      old.getResult().replaceAllUsesWith(view);
  }
}

} // namespace zero
