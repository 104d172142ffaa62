//===- ClampIndices.cpp - keep computed indices inside of their buffers ---===//
// A wrong index of the data fails a zero.check, but a GPU has gone on when the host sees that. Then
// the kernels behind the check have run, too. They may read and write wrong elements, whose values
// nobody uses, but no memory of others.
//===----------------------------------------------------------------------===//

#include "dialects/Zero/KernelAttrs.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CLAMPINDICES
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
/// Which integers of a kernel depend on values in memory.
class LoadedValues {
public:
  bool contains(Value value) {
    if (isa<BaseMemRefType>(value.getType())) // views have no loaded places
      return false;
    auto known = found.find(value);
    if (known != found.end())
      return known->second;
    const bool result = compute(value);
    found[value] = result;
    return result;
  }

private:
  bool anyOf(ValueRange values) {
    return llvm::any_of(values, [&](Value each) { return contains(each); });
  }

  /// Values that leave a region, and those that a loop carries, count as loaded.
  bool compute(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop || argument != loop.getInductionVar())
        return !isa<func::FuncOp>(parent);
      return anyOf({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    }
    Operation *op = value.getDefiningOp();
    return !isMemoryEffectFree(op) || op->getNumRegions() > 0 || anyOf(op->getOperands());
  }

  llvm::DenseMap<Value, bool> found;
};
} // namespace

/// Clamps those of `indices` into `type` that `loaded` contains. A negative index is a large one
/// without a sign, so one minimum suffices.
static LogicalResult clamp(Operation *op, MemRefType type, MutableOperandRange indices,
                           LoadedValues &loaded) {
  OpBuilder builder(op);
  for (auto [dim, operand] : llvm::enumerate(indices)) {
    if (!loaded.contains(operand.get()))
      continue;
    if (type.isDynamicDim(dim))
      return op->emitError("expected a static extent for an index that depends on values in "
                           "memory, got dimension ")
             << dim << " of " << type;
    const int64_t last = std::max<int64_t>(type.getDimSize(dim), 1) - 1;
    Value limit = arith::ConstantIndexOp::create(builder, op->getLoc(), last);
    operand.set(arith::MinUIOp::create(builder, op->getLoc(), operand.get(), limit));
  }
  return success();
}

/// Whether `op` makes a view whose place depends on values in memory.
static bool placesView(Operation *op, LoadedValues &loaded) {
  return isa<ViewLikeOpInterface>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return operand.getType().isIndex() && loaded.contains(operand);
         });
}

namespace {
struct ClampIndices : zero::impl::ClampIndicesBase<ClampIndices> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration() || isHostKernel(kernel) ||
        kernel->hasAttr(kConstantIndicesAttr))
      return;
    LoadedValues loaded;
    WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        return clamp(op, load.getMemRefType(), load.getIndicesMutable(), loaded);
      if (auto store = dyn_cast<memref::StoreOp>(op))
        return clamp(op, store.getMemRefType(), store.getIndicesMutable(), loaded);
      if (placesView(op, loaded))
        return op->emitError("expected a view at a place that does not depend on values in memory");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
