//===- TierCopies.cpp - values of a step on several tiers -----------------===//

#include "TierCopies.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepOps.h"

using namespace mlir;

namespace zero {

/// The name of `value` in messages.
static StringAttr nameFor(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadOp>(op))
      return read.getSymbolAttr().getAttr();
    if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
      return name;
    if (op->getNumOperands() == 0)
      break;
    value = op->getOperand(0);
  }
  return StringAttr::get(value.getContext(), "value");
}

Value TierCopies::transfer(Value value, Tier to, Value into, Operation *before) {
  OpBuilder builder(before);
  auto made = TransferOp::create(builder, before->getLoc(), value.getType(), value, into,
                                 tierOf(value), to);
  made->setAttr(kNameAttr, nameFor(into ? into : value));
  setSchedule(made, scheduleOf(before).beside());
  setTier(made.getResult(), to);
  return made.getResult();
}

Value TierCopies::transferOver(Value value, Tier to, Value into, Operation *before) {
  const Tier from = tierOf(value);
  if (from != Tier::Host && to != Tier::Host && from != to)
    value = transfer(value, Tier::Host, {}, before);
  return transfer(value, to, into, before);
}

Value TierCopies::reserve(Value like, Operation *before) {
  OpBuilder builder(before);
  auto made = ReserveOp::create(builder, before->getLoc(), like.getType(), Tier::Host);
  made->setAttr(kNameAttr, nameFor(like));
  setSchedule(made, scheduleOf(before).beside());
  setTier(made.getResult(), Tier::Host);
  return made.getResult();
}

Value TierCopies::bring(Value value, Tier to, Operation *user) {
  if (tierOf(value) == to)
    return value;
  const Schedule schedule = scheduleOf(user).beside();
  const Key key{value, to, schedule.segment, schedule.iterations};
  if (Value found = brought.lookup(key))
    return found;
  Value original = originalOf(value);
  if (Value base = throughReshapes(value); base != value && !original) {
    OpBuilder builder(user);
    Value made = viewLike(value, base, bring(base, to, user), builder);
    setTier(made, to);
    return brought[key] = made;
  }
  // A disk is read in blocks, at which a part need not begin.
  if (auto part = value.getDefiningOp<MemberOp>();
      part && !original && tierOf(value) == Tier::Nvme) {
    Value whole = bring(part->getOperand(0), to, user);
    Operation *made = OpBuilder(user).clone(*part);
    made->setOperand(0, whole);
    setTier(made->getResult(0), to);
    return brought[key] = made->getResult(0);
  }
  const bool goesBack = original && tierOf(original) == to;
  return brought[key] = transferOver(value, to, goesBack ? original : Value(), user);
}

} // namespace zero
