//===- CollapseLoops.cpp - collapse nests of parallel loops ---------------===//
// Threads divide the iterations of one loop. A nest of loops of one kind becomes one loop. Its
// variable is delinearized only if necessary: an access to a full buffer in the order of the nest
// uses it directly.
//===----------------------------------------------------------------------===//

#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_COLLAPSELOOPS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The inner loop of `loop` if it is of the same kind; else null.
static scf::ForOp innerOf(scf::ForOp loop) {
  scf::ForOp inner = innerLoopOf(loop);
  return inner && inner->getAttr(kLoopAttr) == loop->getAttr(kLoopAttr) ? inner : scf::ForOp();
}

/// `loop` and the loops nested in it that can be collapsed.
static SmallVector<scf::ForOp> nestOf(scf::ForOp loop) {
  SmallVector<scf::ForOp> nest;
  if (!isShared(loop) || !constantIterationsOf(loop))
    return nest;
  for (; loop; loop = innerOf(loop))
    nest.push_back(loop);
  return nest;
}

/// Replaces `nest` by one loop that takes its variable apart.
static scf::ForOp collapse(ArrayRef<scf::ForOp> nest) {
  scf::ForOp outer = nest.front(), innermost = nest.back();
  OpBuilder builder(outer);
  Location loc = outer.getLoc();
  SmallVector<int64_t> extents =
      llvm::map_to_vector(nest, [](scf::ForOp loop) { return *iterationsOf(loop); });
  int64_t all = 1;
  for (int64_t extent : extents)
    all *= extent;
  Value end = arith::ConstantIndexOp::create(builder, loc, all);
  auto flat = scf::ForOp::create(builder, loc, outer.getLowerBound(), end, outer.getStep(),
                                 outer.getInitArgs());
  flat->setAttrs(outer->getAttrs());
  if (outer.getInitArgs().empty())
    flat.getBody()->getTerminator()->erase();
  builder.setInsertionPointToStart(flat.getBody());
  auto digits = affine::AffineDelinearizeIndexOp::create(builder, loc, flat.getInductionVar(),
                                                         ArrayRef<int64_t>(extents));
  for (auto [position, digit] : llvm::enumerate(digits.getResults())) {
    scf::ForOp loop = nest[position];
    loop.getInductionVar().replaceAllUsesWith(digit);
  }
  for (auto [old, carried] : llvm::zip(innermost.getRegionIterArgs(), flat.getRegionIterArgs()))
    old.replaceAllUsesWith(carried);
  // Address arithmetic of the outer loops comes along.
  for (scf::ForOp loop : nest.drop_back())
    for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      if (!isa<scf::ForOp>(op))
        op.moveBefore(flat.getBody(), flat.getBody()->end());
  flat.getBody()->getOperations().splice(flat.getBody()->end(),
                                         innermost.getBody()->getOperations());
  outer.replaceAllUsesWith(flat.getResults());
  outer.erase();
  return flat;
}

/// The first of the neighbouring dimensions of `type` that `indices` runs through by all the
/// digits of a nest, in order; none if there are none.
static std::optional<unsigned> findDigits(MemRefType type, ValueRange indices,
                                          affine::AffineDelinearizeIndexOp digits) {
  unsigned count = digits.getNumResults();
  for (unsigned first = 0; first + count <= indices.size(); ++first)
    if (indices.slice(first, count) == ValueRange(digits.getResults()) &&
        type.getShape().slice(first, count) == digits.getStaticBasis())
      return first;
  return std::nullopt;
}

/// Lets an access of `buffer` take the variable of `loop` in place of its digits.
static void linearise(OpOperand &buffer, MutableOperandRange indices, scf::ForOp loop) {
  auto type = cast<MemRefType>(buffer.get().getType());
  affine::AffineDelinearizeIndexOp digits = digitsOf(loop);
  if (!type.getLayout().isIdentity() || !loop.isDefinedOutsideOfLoop(buffer.get()))
    return;
  std::optional<unsigned> first = findDigits(type, OperandRange(indices), digits);
  if (!first)
    return;
  SmallVector<ReassociationIndices> groups;
  SmallVector<Value> at;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    bool inside = dim > *first && dim < *first + digits.getNumResults();
    if (inside) {
      groups.back().push_back(dim);
      continue;
    }
    groups.push_back({dim});
    at.push_back(dim == *first ? loop.getInductionVar() : OperandRange(indices)[dim]);
  }
  OpBuilder builder(loop);
  buffer.set(memref::CollapseShapeOp::create(builder, loop.getLoc(), buffer.get(), groups));
  indices.assign(at);
}

static void lineariseAll(scf::ForOp loop) {
  loop.getBody()->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      linearise(load.getMemrefMutable(), load.getIndicesMutable(), loop);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      linearise(store.getMemrefMutable(), store.getIndicesMutable(), loop);
  });
  if (digitsOf(loop).use_empty())
    digitsOf(loop).erase();
}

/// Erases stores of a value to the address from which it was just loaded. Ops that copy their
/// in-place results create these.
static void eraseSelfCopies(func::FuncOp kernel) {
  kernel.walk([](memref::StoreOp store) {
    auto load = dyn_cast_or_null<memref::LoadOp>(store->getPrevNode());
    if (load && store.getValueToStore() == load && load.getMemref() == store.getMemref() &&
        load.getIndices() == store.getIndices())
      store.erase();
  });
}

namespace {
struct CollapseLoops : zero::impl::CollapseLoopsBase<CollapseLoops> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration() || isHostKernel(kernel))
      return;
    // Views of the same memory become the same value, without which nothing is known of them.
    if (failed(tidy(kernel)))
      return signalPassFailure();
    eraseSelfCopies(kernel);
    if (failed(tidy(kernel)))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (scf::ForOp loop : loops) {
      if (gone.contains(loop))
        continue;
      SmallVector<scf::ForOp> nest = nestOf(loop);
      if (nest.size() < 2)
        continue;
      gone.insert(nest.begin(), nest.end());
      lineariseAll(collapse(nest));
    }
  }

  LogicalResult tidy(func::FuncOp kernel) {
    OpPassManager manager(func::FuncOp::getOperationName());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    manager.addPass(createCanonicalizerPass(config));
    manager.addPass(createCSEPass());
    return runPipeline(manager, kernel);
  }
};
} // namespace
