//===- Workspace.cpp - place the temporaries of a kernel ------------------===//

#include "zero/Codegen/Workspace.h"
#include "dialects/Zero/Zero.h"
#include "zero/Codegen/GpuLoops.h"

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
  const Type element = type.getElementType();
  const unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

/// Whether a loop passes the buffer to its next iteration. Two such buffers would be live at the
/// same time, so they cannot share one place.
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
                              << "' needs a temporary of unknown size: " << alloc.getType();
  if (alloc->getParentOp() != kernel && isCarried(alloc))
    return kernel.emitError() << "kernel '" << kernel.getName()
                              << "' allocates a buffer in each iteration of a loop: "
                              << alloc.getType();
  return success();
}

/// The memory of `alloc` as a view of `workspace` from byte `shift`.
static Value viewOf(OpBuilder &builder, memref::AllocOp alloc, Value workspace, Value shift) {
  return memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), workspace, shift,
                                ValueRange());
}

/// All allocations of `kernel`; fails after an error at one that has no fixed place.
static FailureOr<SmallVector<memref::AllocOp>> findAllocs(func::FuncOp kernel) {
  SmallVector<memref::AllocOp> allocs;
  WalkResult checked = kernel.walk([&](memref::AllocOp alloc) {
    allocs.push_back(alloc);
    return failed(check(kernel, alloc)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (checked.wasInterrupted())
    return failure();
  return allocs;
}

/// Adds the workspace to the arguments of `kernel`, of a size that is not known yet.
static Value addWorkspace(func::FuncOp kernel) {
  Type byte = IntegerType::get(kernel.getContext(), 8);
  return kernel.getBody().addArgument(MemRefType::get({ShapedType::kDynamic}, byte),
                                      kernel.getLoc());
}

static void setWorkspace(func::FuncOp kernel, Value workspace, int64_t bytes) {
  Builder builder(kernel.getContext());
  workspace.setType(MemRefType::get({bytes}, builder.getI8Type()));
  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr("llvm.align", builder.getI64IntegerAttr(kAlignment)),
       builder.getNamedAttr("llvm.noalias", builder.getUnitAttr())}));
  kernel.setFunctionType(builder.getFunctionType(kernel.getBody().getArgumentTypes(), {}));
  kernel.setAllArgAttrs(attributes);
  kernel->setAttr(kWorkspaceAttr, builder.getI64IntegerAttr(bytes));
}

LogicalResult placeTemporaries(func::FuncOp kernel) {
  FailureOr<SmallVector<memref::AllocOp>> allocs = findAllocs(kernel);
  if (failed(allocs))
    return failure();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value workspace;
  int64_t onStack = 0, inWorkspace = 0;
  for (memref::AllocOp alloc : *allocs) {
    int64_t bytes = llvm::alignTo(bytesOf(alloc.getType()), kAlignment);
    Value place;
    if (bytes <= kStackEach && onStack + bytes <= kStackTotal) {
      place = memref::AllocaOp::create(builder, alloc.getLoc(), alloc.getType(),
                                       builder.getI64IntegerAttr(kAlignment));
      onStack += bytes;
    } else {
      if (!workspace)
        workspace = addWorkspace(kernel);
      Value shift = arith::ConstantIndexOp::create(builder, alloc.getLoc(), inWorkspace);
      place = viewOf(builder, alloc, workspace, shift);
      inWorkspace += bytes;
    }
    alloc.replaceAllUsesWith(place);
    alloc.erase();
  }
  if (workspace)
    setWorkspace(kernel, workspace, inWorkspace);
  return success();
}

namespace {
/// The number of iterations with separate buffers, and the index of this one.
struct Copies {
  int64_t count = 1;
  Value index;
};
} // namespace

/// The iterations of shared loops around `alloc`; none if their number is not known.
static std::optional<Copies> copiesOf(OpBuilder &builder, memref::AllocOp alloc) {
  Copies copies;
  Location loc = alloc.getLoc();
  for (auto loop = alloc->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    if (!isShared(loop))
      continue;
    std::optional<int64_t> extent = iterationsOf(loop);
    if (!extent || *extent == ShapedType::kDynamic)
      return std::nullopt;
    Value scale = arith::ConstantIndexOp::create(builder, loc, copies.count);
    Value scaled = arith::MulIOp::create(builder, loc, loop.getInductionVar(), scale);
    copies.index = copies.index
                       ? arith::AddIOp::create(builder, loc, copies.index, scaled).getResult()
                       : scaled;
    copies.count *= *extent;
  }
  return copies;
}

LogicalResult placeGpuTemporaries(func::FuncOp kernel) {
  FailureOr<SmallVector<memref::AllocOp>> allocs = findAllocs(kernel);
  if (failed(allocs))
    return failure();
  Value workspace;
  int64_t inWorkspace = 0;
  for (memref::AllocOp alloc : *allocs) {
    OpBuilder builder(alloc);
    Location loc = alloc.getLoc();
    std::optional<Copies> copies = copiesOf(builder, alloc);
    if (!copies)
      return kernel.emitError()
             << "kernel '" << kernel.getName()
             << "' needs a temporary for each iteration of a loop of unknown length: "
             << alloc.getType();
    int64_t bytes = llvm::alignTo(bytesOf(alloc.getType()), kAlignment);
    Value shift = arith::ConstantIndexOp::create(builder, loc, inWorkspace);
    if (copies->index) {
      Value each = arith::ConstantIndexOp::create(builder, loc, bytes);
      Value from = arith::MulIOp::create(builder, loc, copies->index, each);
      shift = arith::AddIOp::create(builder, loc, from, shift);
    }
    if (!workspace)
      workspace = addWorkspace(kernel);
    alloc.replaceAllUsesWith(viewOf(builder, alloc, workspace, shift));
    alloc.erase();
    inWorkspace += copies->count * bytes;
  }
  if (workspace)
    setWorkspace(kernel, workspace, inWorkspace);
  return success();
}

} // namespace zero
