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

/// Clamps `operand`, an index of dimension `dim` of `type`, to [0, `last`] if `loaded` contains it.
/// A negative index is a large one without a sign, so one minimum suffices.
static LogicalResult clamp(OpOperand &operand, MemRefType type, unsigned dim, int64_t last,
                           LoadedValues &loaded) {
  if (!loaded.contains(operand.get()))
    return success();
  Operation *op = operand.getOwner();
  if (type.isDynamicDim(dim))
    return op->emitError("expected a static extent for an index that depends on values in "
                         "memory, got dimension ")
           << dim << " of " << type;
  OpBuilder builder(op);
  Value limit = arith::ConstantIndexOp::create(builder, op->getLoc(), std::max<int64_t>(last, 0));
  operand.set(arith::MinUIOp::create(builder, op->getLoc(), operand.get(), limit));
  return success();
}

static LogicalResult clampElement(MemRefType type, MutableOperandRange indices,
                                  LoadedValues &loaded) {
  for (auto [dim, operand] : llvm::enumerate(indices))
    if (failed(clamp(operand, type, dim, type.getDimSize(dim) - 1, loaded)))
      return failure();
  return success();
}

/// Clamps the offsets of a view of static sizes, such that all of it is inside of its buffer.
static LogicalResult clampView(memref::SubViewOp view, LoadedValues &loaded) {
  MemRefType type = view.getSourceType();
  OpOperand *next = view.getOffsetsMutable().begin();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!view.isDynamicOffset(dim))
      continue;
    const int64_t span = (view.getStaticSize(dim) - 1) * view.getStaticStride(dim);
    if (failed(clamp(*next++, type, dim, type.getDimSize(dim) - 1 - span, loaded)))
      return failure();
  }
  return success();
}

/// Whether `op` makes a view whose place, sizes or strides depend on values in memory.
static bool isLoadedView(Operation *op, LoadedValues &loaded) {
  return isa<ViewLikeOpInterface>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return operand.getType().isIndex() && loaded.contains(operand);
         });
}

static bool hasStaticShape(memref::SubViewOp view) {
  return view && view.getSizes().empty() && view.getStrides().empty();
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
        return clampElement(load.getMemRefType(), load.getIndicesMutable(), loaded);
      if (auto store = dyn_cast<memref::StoreOp>(op))
        return clampElement(store.getMemRefType(), store.getIndicesMutable(), loaded);
      if (!isLoadedView(op, loaded))
        return WalkResult::advance();
      if (auto view = dyn_cast<memref::SubViewOp>(op); hasStaticShape(view))
        return clampView(view, loaded);
      return op->emitError("expected a view of static sizes at a place that depends on values in "
                           "memory");
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
