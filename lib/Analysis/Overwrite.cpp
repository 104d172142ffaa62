//===- Overwrite.cpp - whether an operand's bytes may be taken ------------===//

#include "Overwrite.h"

#include "zero/Analysis/Storage.h"

using namespace mlir;

namespace zero {

namespace {

/// Bytes of a value that is no view of another.
struct Bytes {
  Value owner;
  int64_t begin;
  int64_t end;
};

} // namespace

static int64_t startOf(MemberOp member) {
  return member.getStart() * elementBytes(member.getResult().getType());
}

/// The bytes that `value` shows. Which slice is a rank's own is not known here, so it
/// stands for all that it is cut from.
static Bytes shownBytes(Value value) {
  Bytes bytes{value, 0, tensorBytes(value.getType())};
  while (Operation *op = bytes.owner.getDefiningOp()) {
    if (auto member = dyn_cast<MemberOp>(op)) {
      bytes.begin += startOf(member);
      bytes.end += startOf(member);
    } else if (isa<OwnSliceOp>(op)) {
      bytes = {{}, 0, tensorBytes(op->getOperand(0).getType())};
    } else if (!isReshape(op)) {
      break;
    }
    bytes.owner = op->getOperand(0);
  }
  return bytes;
}

/// Whether any of `bytes` is read by another operand than `taken` when its op runs or
/// later. What refills its buffer, a gather or transfer, reads nothing there.
static bool isReadSince(Bytes bytes, OpOperand &taken) {
  return llvm::any_of(bytes.owner.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto gather = dyn_cast<AllGatherOp>(user);
    auto transfer = dyn_cast<TransferOp>(user);
    if (&use == &taken || (gather && use.get() == gather.getInto()) ||
        (transfer && use.get() == transfer.getInto()))
      return false;
    if (isReshape(user))
      return isReadSince({user->getResult(0), bytes.begin, bytes.end}, taken);
    if (auto slice = dyn_cast<OwnSliceOp>(user))
      return isReadSince({slice.getResult(), 0, tensorBytes(slice.getResult().getType())}, taken);
    if (auto member = dyn_cast<MemberOp>(user)) {
      int64_t begin = bytes.begin - startOf(member), end = bytes.end - startOf(member);
      return begin < tensorBytes(member.getResult().getType()) && end > 0 &&
             isReadSince({member.getResult(), begin, end}, taken);
    }
    return !user->isBeforeInBlock(taken.getOwner());
  });
}

bool mayOverwrite(OpOperand &operand) {
  Bytes bytes = shownBytes(operand.get());
  Operation *producer = bytes.owner.getDefiningOp();
  // An input is the caller's; a constant and what the prologue makes serve many turns.
  if (!producer || producer->hasTrait<OpTrait::ConstantLike>() ||
      (producer->hasAttr(kPrologueAttr) && !operand.getOwner()->hasAttr(kPrologueAttr)))
    return false;
  return !isReadSince(bytes, operand);
}

} // namespace zero
