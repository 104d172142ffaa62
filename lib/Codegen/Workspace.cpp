//===- Workspace.cpp - where a kernel's temporaries lie -------------------===//

#include "Workspace.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace zero {

static constexpr int64_t kAlignment = 64;
static constexpr int64_t kStackEach = 64 << 10;
static constexpr int64_t kStackTotal = 256 << 10;

/// Bytes of a buffer in memory; i1 takes a byte.
static int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Whether a loop hands the buffer to its next iteration: two of them would be
/// live at once, and one place for both is wrong.
static bool isCarried(Value buffer) {
  SmallVector<Value> work{buffer};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<scf::YieldOp>(user))
        return true;
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(work, user->getResults());
    }
  }
  return false;
}

static LogicalResult check(func::FuncOp kernel, memref::AllocOp alloc) {
  if (!alloc.getType().hasStaticShape())
    return kernel.emitError() << "kernel '" << kernel.getName()
                              << "' needs a temporary of a size that is not known: "
                              << alloc.getType();
  if (alloc->getParentOp() != kernel && isCarried(alloc))
    return kernel.emitError() << "kernel '" << kernel.getName()
                              << "' makes a new buffer in each iteration of a loop: "
                              << alloc.getType();
  return success();
}

/// A view of the workspace from byte `offset`.
static Value viewOf(OpBuilder &builder, Location loc, Value workspace, int64_t offset,
                    MemRefType type) {
  Value shift = arith::ConstantIndexOp::create(builder, loc, offset);
  return memref::ViewOp::create(builder, loc, type, workspace, shift, ValueRange());
}

LogicalResult placeTemporaries(func::FuncOp kernel) {
  SmallVector<memref::AllocOp> allocs;
  WalkResult checked = kernel.walk([&](memref::AllocOp alloc) {
    allocs.push_back(alloc);
    return failed(check(kernel, alloc)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (checked.wasInterrupted())
    return failure();

  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value workspace;
  int64_t onStack = 0, inWorkspace = 0;
  for (memref::AllocOp alloc : allocs) {
    int64_t bytes = llvm::alignTo(bytesOf(alloc.getType()), kAlignment);
    Value place;
    if (bytes <= kStackEach && onStack + bytes <= kStackTotal) {
      place = memref::AllocaOp::create(builder, alloc.getLoc(), alloc.getType(),
                                       builder.getI64IntegerAttr(kAlignment));
      onStack += bytes;
    } else {
      if (!workspace)
        workspace = kernel.getBody().addArgument(
            MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()), alloc.getLoc());
      place = viewOf(builder, alloc.getLoc(), workspace, inWorkspace, alloc.getType());
      inWorkspace += bytes;
    }
    alloc.replaceAllUsesWith(place);
    alloc.erase();
  }
  if (!workspace)
    return success();

  workspace.setType(MemRefType::get({inWorkspace}, builder.getI8Type()));
  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr("llvm.align", builder.getI64IntegerAttr(kAlignment)),
       builder.getNamedAttr("llvm.noalias", builder.getUnitAttr())}));
  kernel.setFunctionType(builder.getFunctionType(kernel.getBody().getArgumentTypes(), {}));
  kernel.setAllArgAttrs(attributes);
  kernel->setAttr(kWorkspaceAttr, builder.getI64IntegerAttr(inWorkspace));
  return success();
}

} // namespace zero
