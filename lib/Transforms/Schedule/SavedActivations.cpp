//===- SavedActivations.cpp - what forward saves for backward -------------===//

#include "SavedActivations.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/Layers.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepOps.h"

using namespace mlir;

namespace zero {

/// The smallest values remain on the device if together they are at most this fraction of the saved
/// bytes.
static constexpr int64_t kSmallPart = 100;

Saves::Saves(func::FuncOp step) : forward(findForwardOps(step)) {
  made.push_back(0);
  for (Operation &op : step.getBody().front()) {
    positions[&op] = positions.size();
    ops.push_back(&op);
    int64_t bytes = 0;
    if (isa<LaunchOp>(op))
      for (Type type : op.getResultTypes())
        bytes += tensorBytes(type);
    made.push_back(made.back() + bytes);
  }
  for (Operation &op : step.getBody().front()) {
    const bool isCopy = isa<CopyOp>(op); // of what forward saves
    if (!isCopy && (!forward.contains(&op) || !runsAlways(&op)))
      continue;
    for (OpResult result : op.getResults()) {
      Saved saved{result, tensorBytes(result.getType()), positions[&op]};
      findReaders(result, saved);
      if (saved.firstBehind != INT64_MAX)
        values.push_back(saved);
    }
  }
}

/// Adds who reads `value`, under any shape.
void Saves::findReaders(Value value, Saved &saved) const {
  for (Operation *user : value.getUsers()) {
    const int64_t position = positions.lookup(user);
    if (isReshape(user)) {
      findReaders(user->getResult(0), saved);
    } else if (forward.contains(user)) {
      saved.lastInForward = std::max(saved.lastInForward, position);
    } else if (user->hasTrait<OpTrait::IsTerminator>()) {
      saved.isFree = false;
    } else {
      saved.firstBehind = std::min(saved.firstBehind, position);
      saved.isFree &= !isIn(user, Segment::Epilogue);
    }
  }
}

int64_t Saves::bytes() const {
  int64_t sum = 0;
  for (const Saved &saved : values)
    sum += saved.bytes;
  return sum;
}

/// Whether launches make as many bytes while `saved` is away as it leaves.
bool Saves::makesRoom(const Saved &saved) const {
  return saved.isFree && saved.lastInForward < saved.firstBehind &&
         made[saved.firstBehind] - made[saved.lastInForward + 1] >= saved.bytes;
}

/// Bytes from which on a value is not among the smallest.
int64_t Saves::leastMoved() const {
  SmallVector<int64_t> sizes;
  for (const Saved &saved : values)
    sizes.push_back(saved.bytes);
  llvm::sort(sizes);
  int64_t small = 0;
  for (int64_t size : sizes) {
    small += size;
    if (small * kSmallPart > bytes())
      return size;
  }
  return 0;
}

SmallVector<Saved> Saves::movable() const {
  SmallVector<Saved> chosen;
  const int64_t least = leastMoved();
  llvm::copy_if(values, std::back_inserter(chosen),
                [&](const Saved &saved) { return saved.bytes >= least && makesRoom(saved); });
  return chosen;
}

} // namespace zero
