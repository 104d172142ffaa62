//===- SinkResiduals.cpp - compute in backward what only it reads ---------===//
// A program that was linearized computes coefficients of its backward pass as soon as it can,
// beside the forward pass. They would be stored until backward reads them. Where what they are
// computed from is no larger, it is stored instead, or recomputed.
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/OpTable.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SINKRESIDUALS
#include "include/zero/Transforms/Shape/Passes.h.inc"

namespace {
/// Where an op is in the new order: before the op at `position`, and the later the larger `turn`.
struct Place {
  int64_t position, turn;
  bool operator<(const Place &other) const {
    return std::tie(position, turn) < std::tie(other.position, other.turn);
  }
};

class Sinker {
public:
  explicit Sinker(func::FuncOp step)
      : block(step.getBody().front()), forward(findForwardOps(step)) {
    int64_t position = 0;
    for (Operation &op : block) {
      places[&op] = {position, 0};
      if (forward.contains(&op) && isa<onnx::NodeOp>(op)) // means over ranks come last of all
        end = position;
      ++position;
    }
  }

  void run();

private:
  bool maySink(Operation &op) const;

  Block &block;
  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, Place> places;
  int64_t end = 0; ///< of forward's last node
};
} // namespace

static int64_t bytesOf(Value value) {
  return isa<RankedTensorType>(value.getType()) ? tensorBytes(value.getType()) : 0;
}

/// Whether `op` is a node beside forward that computes element by element, or a view, from operands
/// that are state or no larger than its results.
bool Sinker::maySink(Operation &op) const {
  auto node = dyn_cast<onnx::NodeOp>(op);
  if (!node || forward.contains(&op) || places.lookup(&op).position > end || op.use_empty() ||
      isIn(&op, Segment::Prologue))
    return false;
  const ops::OpDef *def = ops::lookup(node);
  if (!def || (def->kind != ops::Kind::Elementwise && def->kind != ops::Kind::View))
    return false;
  int64_t made = 0;
  for (Value result : node->getResults())
    made += bytesOf(result);
  return llvm::all_of(node.getInputs(), [&](Value input) {
    Operation *producer = input.getDefiningOp();
    return !producer || isa<ReadOp>(producer) || producer->hasTrait<OpTrait::ConstantLike>() ||
           bytesOf(input) <= made;
  });
}

void Sinker::run() {
  // Users first: an op moves before the first of them.
  int64_t turn = 0;
  for (Operation &op : llvm::reverse(block)) {
    if (!maySink(op))
      continue;
    Place first = places.lookup(*op.user_begin());
    for (Operation *user : op.getUsers())
      first = std::min(first, places.lookup(user));
    places[&op] = {first.position, --turn};
  }
  if (turn == 0)
    return;
  SmallVector<Operation *> order;
  for (Operation &op : block)
    order.push_back(&op);
  llvm::stable_sort(order, [&](Operation *a, Operation *b) { return places[a] < places[b]; });
  // One by one to the end: moving past each other would number the block anew each time.
  for (Operation *op : order)
    op->moveBefore(&block, block.end());
}

namespace {
struct SinkResiduals : impl::SinkResidualsBase<SinkResiduals> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Sinker(*step).run();
  }
};
} // namespace
} // namespace zero
