//===- PartitionActivations.cpp - divide activations that ranks share -----===//

#include "SavedActivations.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Schedule/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PARTITIONACTIVATIONS
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class Divider {
public:
  Divider(ModuleOp module, func::FuncOp step)
      : step(step), saves(step), mesh(module), group(mesh.groupOf(kTensorAxis)) {}

  void run();
  std::string describe() const;

private:
  bool mayDivide(const Saved &saved) const;
  void divide(const Saved &saved);
  bool readsBehind(Operation *reshape) const;
  void redirect(OpBuilder &builder, Value from, Value to);

  func::FuncOp step;
  Saves saves;
  Mesh mesh;
  GroupAttr group;
  int64_t count = 0, bytes = 0;
};

} // namespace

bool Divider::mayDivide(const Saved &saved) const {
  auto alike = saved.value.getOwner()->getAttrOfType<DenseI64ArrayAttr>(kReplicatedAttr);
  auto type = cast<RankedTensorType>(saved.value.getType());
  return alike && llvm::is_contained(alike.asArrayRef(), int64_t(saved.value.getResultNumber())) &&
         type.getRank() > 0 && type.getNumElements() % mesh.sizeOf(group) == 0;
}

/// Whether an op behind forward reads the result of `reshape`, under any shape.
bool Divider::readsBehind(Operation *reshape) const {
  return llvm::any_of(reshape->getUsers(), [&](Operation *user) {
    return isReshape(user) ? readsBehind(user) : !saves.isForward(user);
  });
}

/// Lets the readers of `from` behind forward read `to`, which is made at `builder`.
void Divider::redirect(OpBuilder &builder, Value from, Value to) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : from.getUses())
    uses.push_back(&use);
  for (OpOperand *use : uses) {
    Operation *user = use->getOwner();
    if (isReshape(user)) {
      if (!readsBehind(user))
        continue;
      Operation *again = builder.clone(*user);
      again->setOperand(0, to);
      redirect(builder, user->getResult(0), again->getResult(0));
    } else if (!saves.isForward(user) && !isa<OwnSliceOp>(user)) {
      use->set(to);
    }
  }
}

void Divider::divide(const Saved &saved) {
  Value value = saved.value;
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  const int64_t elements = type.getNumElements();
  auto name = StringAttr::get(step.getContext(), displayName(saved.value.getOwner()));
  OpBuilder builder(step.getContext());
  builder.setInsertionPointAfter(saves.opAt(saved.lastInForward));
  auto slice = type.clone(ArrayRef<int64_t>(elements / mesh.sizeOf(group)));
  Value own = OwnSliceOp::create(builder, loc, slice, value, group);
  auto kept = CopyOp::create(builder, loc, slice, own);
  kept->setAttr(kNameAttr, name);
  builder.setInsertionPoint(saves.opAt(saved.firstBehind));
  auto gather = AllGatherOp::create(builder, loc, type.clone(ArrayRef<int64_t>(elements)),
                                    kept.getResult(), group);
  gather->setAttr(kNameAttr, name);
  Value whole = gather.getResult();
  if (type.getRank() > 1) {
    SmallVector<ReassociationIndices> groups{llvm::to_vector(llvm::seq<int64_t>(type.getRank()))};
    whole = tensor::ExpandShapeOp::create(builder, loc, type, whole, groups);
  }
  redirect(builder, value, whole);
  ++count;
  bytes += saved.bytes;
}

void Divider::run() {
  for (const Saved &saved : saves.movable())
    if (mayDivide(saved))
      divide(saved);
}

std::string Divider::describe() const {
  return (Twine(count) + " of " + Twine(saves.all().size()) +
          " values that forward saves are divided over " + Twine(mesh.sizeOf(group)) +
          " ranks until backward: " + planning::formatBytes(bytes) + " of " +
          planning::formatBytes(saves.bytes()))
      .str();
}

namespace {
struct PartitionActivations : zero::impl::PartitionActivationsBase<PartitionActivations> {
  using PartitionActivationsBase::PartitionActivationsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Divider divider(getOperation(), *step);
    divider.run();
    if (!quiet)
      remark::passed((*step)->getLoc(), remark::RemarkOpts::name("divided").category("activations"))
          << divider.describe();
    for (Operation &op : step->getBody().front())
      op.removeAttr(kReplicatedAttr);
  }
};
} // namespace
