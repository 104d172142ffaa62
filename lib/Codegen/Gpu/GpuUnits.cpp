//===- GpuUnits.cpp - the launches of a kernel in sequence ----------------===//

#include "GpuUnits.h"
#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace zero {

/// Whether `op` or an op nested in it writes the memory of `buffer`.
static bool writes(Operation &op, Value buffer) {
  return op
      .walk([&](memref::StoreOp store) {
        return memoryOf(store.getMemref()) == memoryOf(buffer) ? WalkResult::interrupt()
                                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether no later op of the block writes the memory that `load` reads.
static bool readsLast(memref::LoadOp load) {
  for (Operation *op = load->getNextNode(); op; op = op->getNextNode())
    if (writes(*op, load.getMemref()))
      return false;
  return true;
}

/// Whether each launch may recompute `op`. It must not recompute the values in `bound`. `before`:
/// the unit that ends before `op` or that `op` extends.
static bool isFree(Operation &op, const DenseSet<Value> &bound, const Unit *before) {
  if (llvm::any_of(op.getOperands(), [&](Value value) { return bound.contains(value); }))
    return false;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return readsLast(load) && (!before || llvm::none_of(before->ops, [&](Operation *earlier) {
             return writes(*earlier, load.getMemref());
           }));
  return isa<memref::AllocOp>(op) || isMemoryEffectFree(&op);
}

/// Whether one block may run `op` once: its threads share the sums.
static bool fitsBlock(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return op.getNumRegions() == 0;
  return isMarked(loop, kSumLoop) && iterationsOf(loop) &&
         llvm::all_of(llvm::seq<unsigned>(0, loop.getNumResults()),
                      [&](unsigned index) { return mayCombine(loop, index); });
}

static Unit::Kind kindOf(Operation &op) {
  if (isMarked(&op, kParallelLoop) && iterationsOf(cast<scf::ForOp>(op)) && !op.getNumResults())
    return Unit::Kind::Shared;
  return fitsBlock(op) ? Unit::Kind::Block : Unit::Kind::Serial;
}

/// Hands `value`, which `unit` computes, to the operations of other units through a buffer.
static void spill(OpResult value, Unit &unit) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses()) {
    Operation *user = value.getOwner()->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!llvm::is_contained(unit.ops, user))
      uses.push_back(&use);
  }
  if (uses.empty())
    return;
  Location loc = value.getLoc();
  OpBuilder builder(value.getOwner());
  auto buffer = memref::AllocOp::create(builder, loc, MemRefType::get({}, value.getType()));
  builder.setInsertionPointAfter(unit.ops.back());
  unit.ops.push_back(memref::StoreOp::create(builder, loc, value, buffer));
  auto loaded = memref::LoadOp::create(builder, loc, buffer, ValueRange());
  for (OpOperand *use : uses)
    use->set(loaded);
}

std::vector<Unit> formUnits(func::FuncOp kernel) {
  std::vector<Unit> units;
  DenseSet<Value> bound;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isFree(op, bound, units.empty() ? nullptr : &units.back()))
      continue;
    bound.insert(op.result_begin(), op.result_end());
    Unit::Kind kind = kindOf(op);
    if (kind != Unit::Kind::Block || units.empty() || units.back().kind != kind)
      units.push_back({kind, {}});
    units.back().ops.push_back(&op);
  }
  for (Unit &unit : units)
    for (Operation *op : SmallVector<Operation *>(unit.ops))
      for (OpResult result : op->getResults())
        spill(result, unit);
  return units;
}

} // namespace zero
