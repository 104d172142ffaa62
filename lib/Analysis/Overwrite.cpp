//===- Overwrite.cpp - whether operands may be overwritten ----------------===//

#include "Overwrite.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepOps.h"

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

/// The bytes that `value` refers to. The slice of a rank is not known here, so a slice denotes all
/// bytes of its buffer.
static Bytes shownBytes(Value value) {
  Bytes bytes{value, 0, tensorBytes(value.getType())};
  while (std::optional<View> view = viewOf(bytes.owner.getDefiningOp())) {
    bytes = {view->of, bytes.begin + view->start, bytes.end + view->start};
    if (!view->rankStrides.empty())
      bytes = {view->of, 0, tensorBytes(view->of.getType())};
  }
  return bytes;
}

/// Whether any of `bytes` is read by another operand than `taken` when its op runs or
/// later. What refills its buffer, a gather or transfer, reads nothing there.
static bool isReadSince(Bytes bytes, OpOperand &taken) {
  return llvm::any_of(bytes.owner.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto access = dyn_cast<BufferAccessOpInterface>(user);
    if (&use == &taken || (access && !access.readsBytes(use)))
      return false;
    std::optional<View> view = viewOf(user);
    if (!view)
      return !user->isBeforeInBlock(taken.getOwner());
    Value shown = user->getResult(0);
    const int64_t all = tensorBytes(shown.getType());
    if (!view->rankStrides.empty())
      return isReadSince({shown, 0, all}, taken);
    const int64_t begin = bytes.begin - view->start, end = bytes.end - view->start;
    return begin < all && end > 0 && isReadSince({shown, begin, end}, taken);
  });
}

bool mayOverwrite(OpOperand &operand) {
  Bytes bytes = shownBytes(operand.get());
  Operation *producer = bytes.owner.getDefiningOp();
  // An input belongs to the caller; constants and values of the prologue are read in several
  // iterations.
  if (!producer || producer->hasTrait<OpTrait::ConstantLike>() ||
      (isIn(producer, Segment::Prologue) && !isIn(operand.getOwner(), Segment::Prologue)))
    return false;
  return !isReadSince(bytes, operand);
}

} // namespace zero
