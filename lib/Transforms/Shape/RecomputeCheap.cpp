//===- RecomputeCheap.cpp - recompute cheap values in backward ------------===//
// A value that forward computes and backward reads is recomputed by a clone of its node, just
// before its first reader in backward, if that frees its bytes in between: the node computes
// element by element or normalizes rows, and its operands are live anyway, are small, or follow
// element by element from such values. Of a value that ranks gather, a rank's part remains.
//===----------------------------------------------------------------------===//

#include "dialects/Onnx/OwnOperators.h"
#include "zero/Transforms/Kernels/KernelValues.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/OpTable.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Precision/HalfFloats.h"
#include "zero/Transforms/Shape/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_RECOMPUTECHEAP
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// Bytes below which a value is kept: a launch more would not pay.
static constexpr int64_t kLeastBytes = 16384;
/// An operand of at most this part of a value is kept to recompute the value.
static constexpr int64_t kSmall = 8;
/// The maximal number of nodes from which one value is recomputed. GELU's has nine.
static constexpr size_t kLongestChain = 12;

class Recomputer {
public:
  Recomputer(func::FuncOp step, bool computes, bool gathers);
  void run();

private:
  struct Reads {
    SmallVector<OpOperand *> backward; ///< of the value or of a shape that forward gives it
    Operation *first = nullptr;        ///< of the readers in backward
    bool known = true;                 ///< no reader before the loss except forward's own
  };

  bool isForward(Operation *op) const { return forward.contains(op); }
  bool isThere(Value value, int64_t position) const;
  void findReads(Value value, Reads &reads) const;
  bool mayRecompute(onnx::NodeOp node) const;
  bool isCheap(onnx::NodeOp node) const;
  bool findChain(onnx::NodeOp node, int64_t position, llvm::SetVector<Operation *> &chain) const;
  Operation *placeFor(onnx::NodeOp node, Operation *reader) const;
  void recompute(onnx::NodeOp node);

  func::FuncOp step;
  bool computes, gathers; ///< again, in backward
  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, int64_t> positions; ///< of clones: just before their place
  llvm::DenseMap<Value, int64_t> lastReads;       ///< of values under any shape
  int64_t end = 0;                                ///< of forward's last node
};

} // namespace

static bool isViewNode(Operation *op) { return ops::isView(dyn_cast_or_null<onnx::NodeOp>(op)); }

/// The source of `value` through reshapes.
static Value unshaped(Value value) {
  while (isViewNode(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Whether `node` gathers the shards of ranks, or orders the dimensions of what it gathered.
static bool isGather(onnx::NodeOp node) {
  if (!ops::computes(node, ops::Function::Permute))
    return node.is(own::AxisGather);
  auto source = unshaped(node.getOperand(0)).getDefiningOp<onnx::NodeOp>();
  return source && source.is(own::AxisGather);
}

Recomputer::Recomputer(func::FuncOp step, bool computes, bool gathers)
    : step(step), computes(computes), gathers(gathers), forward(findForwardOps(step)) {
  constexpr int64_t kRoom = 1024;
  int64_t position = 0;
  for (Operation &op : step.getBody().front()) {
    positions[&op] = position += kRoom;
    if (isForward(&op) && isa<onnx::NodeOp>(op)) // means over ranks come last of all
      end = position;
    if (!isViewNode(&op))
      for (Value operand : op.getOperands())
        lastReads[unshaped(operand)] = position;
  }
}

/// Whether `value` is available at `position` without recomputation: state, an input, a constant,
/// or a value that is read there or later.
bool Recomputer::isThere(Value value, int64_t position) const {
  value = unshaped(value);
  Operation *producer = value.getDefiningOp();
  return !producer || isa<ReadOp>(producer) || producer->hasTrait<OpTrait::ConstantLike>() ||
         lastReads.lookup(value) >= position;
}

/// Adds who reads `value` in backward, also through shapes that forward gives it.
void Recomputer::findReads(Value value, Reads &reads) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isForward(user) && !user->hasTrait<OpTrait::IsTerminator>()) {
      if (isViewNode(user))
        findReads(user->getResult(0), reads);
      continue;
    }
    reads.known &= isa<onnx::NodeOp>(user) && positions.lookup(user) > end;
    reads.backward.push_back(&use);
    // All clones for one place have its position: only their block says which of them is first.
    if (reads.known && (!reads.first || user->isBeforeInBlock(reads.first)))
      reads.first = user;
  }
}

/// Whether forward computes `node`, and nothing but its first result is read.
bool Recomputer::isCheap(onnx::NodeOp node) const {
  ops::Kind kind = ops::lookup(node)->kind;
  const bool isLocal = kind == ops::Kind::Elementwise || kind == ops::Kind::Rows;
  return isForward(node) && !isIn(node, Segment::Prologue) &&
         ((computes && isLocal) || (gathers && isGather(node))) &&
         llvm::all_of(node.getOutputs().drop_front(), [](Value v) { return v.use_empty(); });
}

/// Whether the result of `node` is worth it.
bool Recomputer::mayRecompute(onnx::NodeOp node) const {
  if (!isCheap(node))
    return false;
  RankedTensorType type = node.outputType(0);
  // Reductions of rows are small. Normalizations have the size of their operands.
  return tensorBytes(type) >= kLeastBytes &&
         (ops::lookup(node)->kind == ops::Kind::Elementwise || isGather(node) ||
          type.getNumElements() == node.inputType(0).getNumElements());
}

/// Adds to `chain`, operands first, the nodes that recompute the result of `node` at `position`
/// from values that are there or are small.
bool Recomputer::findChain(onnx::NodeOp node, int64_t position,
                           llvm::SetVector<Operation *> &chain) const {
  if (isGather(node)) { // from a part of its bytes, which remains, or is recomputed itself
    if (!node.is(own::AxisGather))
      chain.insert(unshaped(node.getOperand(0)).getDefiningOp());
    return chain.insert(node);
  }
  const int64_t bytes = tensorBytes(node.outputType(0));
  // Inside of a kernel values of 16 bits are not rounded, so their bits depend on its borders.
  const bool isNarrow = isHalfFloat(node.outputType(0));
  for (Value input : node.getInputs()) {
    if (isa<NoneType>(input.getType()) || isThere(input, position))
      continue;
    if (isNarrow || isHalfFloat(input.getType()))
      return false;
    if (tensorBytes(input.getType()) * kSmall <= bytes)
      continue;
    auto producer = unshaped(input).getDefiningOp<onnx::NodeOp>();
    if (!producer || unshaped(input) != producer.getResult(0) || !isCheap(producer) ||
        ops::lookup(producer)->kind != ops::Kind::Elementwise)
      return false;
    if (!chain.contains(producer) && !findChain(producer, position, chain))
      return false;
  }
  chain.insert(node);
  return chain.size() <= kLongestChain;
}

/// In front of which op `node` is repeated for `reader`. A gather begins before the other product
/// of the gradient that `reader` multiplies, to run beside it.
Operation *Recomputer::placeFor(onnx::NodeOp node, Operation *reader) const {
  Operation *before = reader->getPrevNode();
  while (isViewNode(before))
    before = before->getPrevNode();
  auto reads = [&](Value value) { return llvm::is_contained(reader->getOperands(), value); };
  const bool isBeside = isGather(node) && isa_and_nonnull<onnx::NodeOp>(before) &&
                        positions.lookup(before) > end &&
                        llvm::any_of(before->getOperands(), reads);
  return isBeside ? before : reader;
}

void Recomputer::recompute(onnx::NodeOp node) {
  Value value = node.getOutputs()[0];
  Reads reads;
  findReads(value, reads);
  if (!reads.first || !reads.known)
    return;
  Operation *place = placeFor(node, reads.first);
  const int64_t position = positions.lookup(place);
  llvm::SetVector<Operation *> chain;
  if (!findChain(node, position, chain))
    return;
  OpBuilder builder(place);
  IRMapping clones;
  auto cloneOf = [&](auto &&self, Value of) -> Value {
    if (Value done = clones.lookupOrNull(of))
      return done;
    Operation *op = of.getDefiningOp();
    if (!op ||
        (!chain.contains(op) && !(isViewNode(op) && chain.contains(unshaped(of).getDefiningOp()))))
      return of;
    for (Value operand : op->getOperands())
      self(self, operand);
    Operation *clone = builder.clone(*op, clones);
    clone->setAttr(kRecomputeAttr, builder.getUnitAttr());
    positions[clone] = position - 1;
    for (Value operand : clone->getOperands())
      lastReads[unshaped(operand)] = std::max(lastReads.lookup(unshaped(operand)), position - 1);
    return clones.lookup(of);
  };
  for (OpOperand *use : reads.backward)
    use->set(cloneOf(cloneOf, use->get()));
  // All round at their position, in any kernel, so the results are bitwise identical.
  for (Operation *op : chain)
    for (Operation *either : {op, clones.lookup(op->getResult(0)).getDefiningOp()})
      either->setAttr(kRoundAttr, builder.getUnitAttr());
  lastReads.erase(value);
}

void Recomputer::run() {
  // Users first, because the operands of a clone may be recomputed for it.
  SmallVector<onnx::NodeOp> nodes(step.getBody().front().getOps<onnx::NodeOp>());
  for (onnx::NodeOp node : llvm::reverse(nodes))
    if (mayRecompute(node))
      recompute(node);
}

namespace {
struct RecomputeCheap : zero::impl::RecomputeCheapBase<RecomputeCheap> {
  using RecomputeCheapBase::RecomputeCheapBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (what == Recompute::Cheap || gathers)
      Recomputer(*step, what == Recompute::Cheap, gathers).run();
  }
};
} // namespace
