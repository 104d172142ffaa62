//===- ChooseThreads.cpp - assign iterations to GPU threads ---------------===//
//
// Neighbouring threads should read neighbouring memory. So where rows of memory are summed,
// or written, a warp or a block shares a row; where the sums run across rows, a warp takes 32
// neighbouring columns and the warps of a block share their rows; else each thread takes 16
// bytes of what is contiguous.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/CompileGpu.h"
#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CHOOSETHREADS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Bytes of the widest access of a thread.
static constexpr int64_t kAccess = 16;
/// More neighbours in one thread would take registers and no fewer accesses.
static constexpr int64_t kMostNeighbours = 8;
/// A loop with fewer iterations is not distributed over threads.
static constexpr int64_t kWorthwhile = 8;
/// Longer rows are a block's.
static constexpr int64_t kRowOfWarp = 1024;

/// Whether an access whose last index is `last` touches neighbours in neighbouring
/// iterations of `loop`.
static bool isContiguous(Value last, scf::ForOp loop) {
  affine::AffineDelinearizeIndexOp digits = digitsOf(loop);
  return last == loop.getInductionVar() || (digits && last == digits.getResults().back());
}

/// Calls `visit` with buffer and last index of each access in `loop` that differs between
/// iterations.
static void forEachAccess(scf::ForOp loop,
                          function_ref<void(TypedValue<MemRefType>, Value)> visit) {
  auto visitAccess = [&](TypedValue<MemRefType> buffer, ValueRange indices) {
    if (!llvm::all_of(indices, [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }))
      visit(buffer, indices.back());
  };
  loop.getBody()->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      visitAccess(load.getMemref(), load.getIndices());
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      visitAccess(store.getMemref(), store.getIndices());
  });
}

/// The number of consecutive iterations of `loop` that one thread should execute, so that it reads
/// and writes 16 bytes in one access, as long as there is work for `threads` threads.
static int64_t neighboursIn(scf::ForOp loop, int64_t threads) {
  bool hasLoops = !loop.getBody()->getOps<scf::ForOp>().empty();
  bool isLinear = false; // whether memory is contiguous over the ends of rows
  int64_t bytes = kAccess;
  forEachAccess(loop, [&](TypedValue<MemRefType> buffer, Value last) {
    const unsigned bits = buffer.getType().getElementTypeBitWidth();
    if (isContiguous(last, loop))
      bytes = std::min<int64_t>(bytes, llvm::divideCeil(bits, 8));
    isLinear |= last == loop.getInductionVar();
  });
  int64_t count = hasLoops ? 1 : std::min(kAccess / bytes, kMostNeighbours);
  int64_t extent = *iterationsOf(loop);
  // A single thread, but not a group, can execute the remainder of a dynamic length.
  if (extent == ShapedType::kDynamic)
    return threads == 1 ? count : 1;
  // Rows of an odd length, as those of 50257 classes, would leave each element to a thread.
  if (affine::AffineDelinearizeIndexOp digits = digitsOf(loop))
    if (!isLinear || digits.getStaticBasis().back() % count == 0)
      extent = digits.getStaticBasis().back();
  while (count > 1 && (extent % count || *iterationsOf(loop) / count < threads))
    count /= 2;
  return count;
}

namespace {
/// The operations of an iteration of a loop.
struct Body {
  SmallVector<scf::ForOp> shared; ///< loops that its threads may share
  bool isRegular = true;          ///< else one thread has to run it
};
} // namespace

static Body bodyOf(scf::ForOp loop) {
  Body body;
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto inner = dyn_cast<scf::ForOp>(op);
    if (inner && isShared(inner) && iterationsOf(inner)) {
      for (unsigned index = 0; index < inner.getNumResults(); ++index)
        body.isRegular &= mayCombine(inner, index);
      body.shared.push_back(inner);
    } else {
      body.isRegular &= op.getNumRegions() == 0 || isMemoryEffectFree(&op);
    }
  }
  return body;
}

/// Whether more memory is contiguous along iterations of `outer` than along those of `shared`.
static bool readsColumns(scf::ForOp outer, ArrayRef<scf::ForOp> shared) {
  int64_t columns = 0, rows = 0;
  for (scf::ForOp loop : shared)
    forEachAccess(loop, [&](TypedValue<MemRefType> buffer, Value last) {
      MemRefType type = buffer.getType();
      int64_t size = type.hasStaticShape() ? type.getNumElements() : 1;
      columns += isContiguous(last, outer) ? size : 0;
      rows += isContiguous(last, loop) ? size : 0;
    });
  return columns > rows;
}

/// The longest of `loops`.
static int64_t longest(ArrayRef<scf::ForOp> loops) {
  int64_t most = 0;
  for (scf::ForOp loop : loops) {
    int64_t extent = *iterationsOf(loop);
    most = std::max(most, extent == ShapedType::kDynamic ? INT64_MAX : extent);
  }
  return most;
}

static Threads threadsFor(scf::ForOp loop, const Body &body) {
  if (!body.isRegular || longest(body.shared) < kWorthwhile)
    return Threads::One;
  if (readsColumns(loop, body.shared))
    return Threads::Column;
  return longest(body.shared) > kRowOfWarp ? Threads::Block : Threads::Warp;
}

namespace {
struct ChooseThreads : zero::impl::ChooseThreadsBase<ChooseThreads> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration() || isHostKernel(kernel))
      return;
    for (auto loop : kernel.getOps<scf::ForOp>()) {
      if (isMarked(loop, kParallelLoop) && iterationsOf(loop))
        choose(loop);
      else if (isMarked(loop, kSumLoop) && iterationsOf(loop))
        setNeighbours(loop, 1024);
    }
  }

  void choose(scf::ForOp loop) {
    Body body = bodyOf(loop);
    Threads threads = threadsFor(loop, body);
    loop->setAttr(kThreadsOfLoopAttr, StringAttr::get(&getContext(), threadsName(threads)));
    if (threads == Threads::One)
      return setNeighbours(loop, 1);
    if (threads != Threads::Column)
      for (scf::ForOp inner : body.shared)
        setNeighbours(inner, lanesOf(threads));
  }

  void setNeighbours(scf::ForOp loop, int64_t threads) {
    int64_t count = neighboursIn(loop, threads);
    if (count == 1)
      return;
    loop->setAttr(kNeighboursAttr, Builder(&getContext()).getI64IntegerAttr(count));
    forEachAccess(loop, [&](TypedValue<MemRefType> buffer, Value last) {
      auto argument = dyn_cast<BlockArgument>(memoryOf(buffer));
      if (argument && !loop.isDefinedOutsideOfLoop(last))
        getOperation().setArgAttr(argument.getArgNumber(), kAlignedAttr,
                                  UnitAttr::get(&getContext()));
    });
  }
};
} // namespace
