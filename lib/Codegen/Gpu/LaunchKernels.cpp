//===- LaunchKernels.cpp - convert loops of kernels to GPU launches -------===//

#include "GpuGroup.h"
#include "GpuUnits.h"
#include "zero/Codegen/Passes.h"
#include "zero/Codegen/SplitLoops.h"
#include "zero/Codegen/Workspace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_LAUNCHKERNELS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

static constexpr int64_t kThreadsOfBlock = 256;
static constexpr int64_t kMostThreads = 1024;
static constexpr int64_t kWarp = 32;

namespace {
/// Makes the launches of one kernel.
class Launcher {
public:
  Launcher(func::FuncOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  void launchShared(scf::ForOp loop);
  void launchBlock(const Unit &unit);
  /// Returns how many threads run the loop.
  int64_t launchSerial(const Unit &unit);

private:
  gpu::LaunchOp createLaunch(Operation *at, std::optional<int64_t> iterations, int64_t perBlock,
                             int64_t threads, Value length);
  void launchElements(scf::ForOp loop);
  void launchGroups(scf::ForOp loop, Threads threads);
  void emitTail(scf::ForOp loop, Value chunk, Value length);
  Value thread(gpu::LaunchOp launch);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
  }
  Value less(Value left, Value right) {
    return arith::CmpIOp::create(builder, kernel.getLoc(), arith::CmpIPredicate::ult, left, right);
  }
  /// Writes the following operations under `condition`.
  void enterIf(Value condition) {
    auto guarded = scf::IfOp::create(builder, kernel.getLoc(), condition);
    builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  }

  func::FuncOp kernel;
  OpBuilder builder;
};
} // namespace

/// Creates a launch before `at` of blocks of `threads` threads. Each block executes `perBlock` of
/// the `iterations`, or of `length` iterations if their number is not known. The following
/// operations are written into the launch.
gpu::LaunchOp Launcher::createLaunch(Operation *at, std::optional<int64_t> iterations,
                                     int64_t perBlock, int64_t threads, Value length) {
  builder.setInsertionPoint(at);
  Location loc = at->getLoc();
  Value one = index(1);
  Value blocks =
      iterations ? index(llvm::divideCeil(*iterations, perBlock))
                 : arith::CeilDivUIOp::create(builder, loc, length, index(perBlock)).getResult();
  auto launch = gpu::LaunchOp::create(builder, loc, blocks, one, one, index(threads), one, one);
  if (!iterations)
    launch->setAttr(kPerBlockAttr, builder.getI64IntegerAttr(perBlock));
  builder.setInsertionPointToEnd(&launch.getBody().front());
  auto end = gpu::TerminatorOp::create(builder, loc);
  builder.setInsertionPoint(end);
  return launch;
}

/// The number of the thread among all of `launch`.
Value Launcher::thread(gpu::LaunchOp launch) {
  Value before = arith::MulIOp::create(builder, kernel.getLoc(), launch.getBlockIds().x,
                                       index(kThreadsOfBlock));
  return arith::AddIOp::create(builder, kernel.getLoc(), before, launch.getThreadIds().x);
}

/// The last iterations of `loop`, fewer than a thread's share, from that of number `chunk` on.
void Launcher::emitTail(scf::ForOp loop, Value chunk, Value length) {
  Location loc = loop.getLoc();
  Value begin = arith::MulIOp::create(builder, loc, chunk, index(neighboursOf(loop)));
  auto rest = scf::ForOp::create(builder, loc, begin, length, index(1));
  builder.setInsertionPoint(rest.getBody()->getTerminator());
  cloneIterations(builder, loop, rest.getInductionVar(), 1, {}, {});
}

/// Each thread runs some neighbouring iterations of `loop`.
void Launcher::launchElements(scf::ForOp loop) {
  Location loc = loop.getLoc();
  int64_t count = neighboursOf(loop);
  std::optional<int64_t> extent = iterationsOf(loop);
  if (*extent == ShapedType::kDynamic)
    extent.reset();
  Value length = loop.getUpperBound();
  gpu::LaunchOp launch =
      createLaunch(loop, extent, kThreadsOfBlock * count, kThreadsOfBlock, length);
  Value chunk = thread(launch);
  if (extent) {
    enterIf(less(chunk, index(*extent / count)));
    cloneIterations(builder, loop, chunk, count, {}, {});
    return;
  }
  if (count == 1) {
    enterIf(less(chunk, length));
    cloneIterations(builder, loop, chunk, count, {}, {});
    return;
  }
  Value end = arith::MulIOp::create(
      builder, loc, arith::AddIOp::create(builder, loc, chunk, index(1)), index(count));
  auto isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, end, length);
  auto choice = scf::IfOp::create(builder, loc, isWhole, /*withElseRegion=*/true);
  builder.setInsertionPoint(choice.thenBlock()->getTerminator());
  cloneIterations(builder, loop, chunk, count, {}, {});
  builder.setInsertionPoint(choice.elseBlock()->getTerminator());
  emitTail(loop, chunk, length);
}

/// Groups of threads run an iteration of `loop` each.
void Launcher::launchGroups(scf::ForOp loop, Threads threads) {
  Location loc = loop.getLoc();
  std::optional<int64_t> extent = iterationsOf(loop);
  if (*extent == ShapedType::kDynamic)
    extent.reset();
  const bool isColumn = threads == Threads::Column;
  int64_t lanes = lanesOf(threads);
  int64_t perBlock = isColumn ? kWarp : kThreadsOfBlock / lanes;
  Value length = loop.getUpperBound();
  gpu::LaunchOp launch = createLaunch(loop, extent, perBlock, perBlock * lanes, length);
  Value own = launch.getThreadIds().x, size = index(isColumn ? kWarp : lanes);
  Value high = arith::DivUIOp::create(builder, loc, own, size);
  Value low = arith::RemUIOp::create(builder, loc, own, size);
  Value before = arith::MulIOp::create(builder, loc, launch.getBlockIds().x, index(perBlock));
  Value iteration = arith::AddIOp::create(builder, loc, before, isColumn ? low : high);
  const bool isWhole = extent && *extent % perBlock == 0; // no block has fewer iterations
  Value exists = isWhole ? Value() : less(iteration, length);
  if (exists && isColumn) {
    // All threads of the block wait at its barriers: some run the last iteration once more.
    Value last = arith::SubIOp::create(builder, loc, length, index(1));
    iteration = arith::MinUIOp::create(builder, loc, iteration, last);
  } else if (exists) {
    enterIf(exists);
  }
  GroupEmitter group(builder, launch, threads, isColumn ? high : low, lanes,
                     isColumn ? exists : Value());
  group.mapping.map(loop.getInductionVar(), iteration);
  for (Operation &op : loop.getBody()->without_terminator())
    group.emit(op);
}

void Launcher::launchShared(scf::ForOp loop) {
  auto name = loop->getAttrOfType<StringAttr>(kThreadsOfLoopAttr);
  for (Threads threads : {Threads::Warp, Threads::Block, Threads::Column})
    if (name && name.getValue() == threadsName(threads))
      return launchGroups(loop, threads);
  launchElements(loop);
}

/// One block runs `unit`, with as many threads as its longest loop keeps busy.
void Launcher::launchBlock(const Unit &unit) {
  int64_t threads = kWarp;
  for (Operation *op : unit.ops)
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      int64_t extent = *iterationsOf(loop);
      while (threads < kMostThreads &&
             (extent == ShapedType::kDynamic || extent / neighboursOf(loop) > threads))
        threads *= 2;
    }
  gpu::LaunchOp launch = createLaunch(unit.ops.back(), 1, 1, threads, Value());
  GroupEmitter group(builder, launch, Threads::Block, launch.getThreadIds().x, threads, Value());
  for (Operation *op : unit.ops)
    group.emit(*op);
}

int64_t Launcher::launchSerial(const Unit &unit) {
  auto loop = dyn_cast<scf::ForOp>(unit.ops.front());
  std::optional<Split> split = loop && unit.ops.size() == 1 ? findSplit(loop) : std::nullopt;
  int64_t extent = split ? *iterationsOf(split->loops.front()) : 1;
  if (!split || split->hasTemporaries || extent == ShapedType::kDynamic) {
    split.reset();
    extent = 1;
  }
  gpu::LaunchOp launch =
      createLaunch(unit.ops.back(), extent, kThreadsOfBlock, kThreadsOfBlock, Value());
  Value iteration = thread(launch);
  enterIf(less(iteration, index(extent)));
  IRMapping mapping;
  for (Operation *op : unit.ops)
    builder.clone(*op, mapping);
  if (!split)
    return extent;
  for (scf::ForOp chosen : split->loops) {
    auto own = cast<scf::ForOp>(mapping.lookup(chosen.getOperation()));
    OpBuilder before(own);
    own.setLowerBound(iteration);
    own.setUpperBound(arith::AddIOp::create(before, own.getLoc(), iteration, own.getStep()));
  }
  return extent;
}

/// Says that `kernel` runs on few threads.
static void remarkSerial(func::FuncOp kernel, int64_t threads) {
  remark::missed(kernel.getLoc(), remark::RemarkOpts::name("serial").category("gpu"))
      << ("kernel '" + kernel.getName() + "' has a sequential loop, on " + Twine(threads) +
          (threads == 1 ? " thread" : " threads"))
             .str();
}

namespace {
struct LaunchKernels : zero::impl::LaunchKernelsBase<LaunchKernels> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration() || isHostKernel(kernel))
      return;
    std::vector<Unit> units = formUnits(kernel);
    if (failed(placeGpuTemporaries(kernel)))
      return signalPassFailure();
    Launcher launcher(kernel);
    for (const Unit &unit : units) {
      if (unit.kind == Unit::Kind::Shared)
        launcher.launchShared(cast<scf::ForOp>(unit.ops.front()));
      else if (unit.kind == Unit::Kind::Block)
        launcher.launchBlock(unit);
      else
        remarkSerial(kernel, launcher.launchSerial(unit));
      for (Operation *op : llvm::reverse(unit.ops))
        op->erase();
    }
  }
};
} // namespace
