//===- GpuGroup.cpp - threads that share an iteration ---------------------===//

#include "GpuGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace zero {

static constexpr int64_t kWarp = 32;

//===----------------------------------------------------------------------===//
// Neighbouring iterations
//===----------------------------------------------------------------------===//

int64_t neighboursOf(scf::ForOp loop) {
  auto attr = loop->getAttrOfType<IntegerAttr>(kNeighboursAttr);
  return attr ? attr.getInt() : 1;
}

/// Maps the variable of `loop`, and its digits, for each of the iterations that begin with
/// `chunk` times their number. They may have other digits than the last in common, or not.
static void mapIterations(OpBuilder &builder, scf::ForOp loop, Value chunk,
                          MutableArrayRef<IRMapping> iterations) {
  Location loc = loop.getLoc();
  int64_t count = iterations.size();
  Value scale = arith::ConstantIndexOp::create(builder, loc, count);
  Value first = count == 1 ? chunk : arith::MulIOp::create(builder, loc, chunk, scale).getResult();
  affine::AffineDelinearizeIndexOp digits = digitsOf(loop), parts;
  const bool inRows = digits && digits.getStaticBasis().back() % count == 0;
  Value lastDigit;
  if (inRows) {
    SmallVector<int64_t> extents(digits.getStaticBasis());
    extents.back() /= count;
    parts =
        affine::AffineDelinearizeIndexOp::create(builder, loc, chunk, ArrayRef<int64_t>(extents));
    lastDigit = parts.getResults().back();
    if (count > 1)
      lastDigit = arith::MulIOp::create(builder, loc, lastDigit, scale);
  }
  auto shifted = [&](Value value, int64_t by) -> Value {
    Value shift = by ? arith::ConstantIndexOp::create(builder, loc, by).getResult() : Value();
    return by ? arith::AddIOp::create(builder, loc, value, shift).getResult() : value;
  };
  for (auto [number, mapping] : llvm::enumerate(iterations)) {
    const Value own = shifted(first, number);
    mapping.map(loop.getInductionVar(), own);
    if (!digits)
      continue;
    if (!inRows) {
      auto ownDigits =
          affine::AffineDelinearizeIndexOp::create(builder, loc, own, digits.getStaticBasis());
      mapping.map(digits.getResults(), ownDigits.getResults());
      continue;
    }
    for (auto [digit, part] : llvm::zip(digits.getResults(), parts.getResults()))
      mapping.map(digit, part);
    mapping.map(digits.getResults().back(), shifted(lastDigit, number));
  }
}

SmallVector<Value> cloneIterations(OpBuilder &builder, scf::ForOp loop, Value chunk, int64_t count,
                                   ValueRange carried, const IRMapping &outer) {
  SmallVector<IRMapping> iterations(count, outer);
  mapIterations(builder, loop, chunk, iterations);
  for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
    iterations.front().map(argument, value);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == digitsOf(loop))
      continue;
    for (int64_t number = 0; number < count; ++number) {
      // The loop-carried value of the previous iteration exists here, because only its definition
      // reads it.
      if (number > 0)
        for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues()))
          if (Value made = iterations[number - 1].lookupOrNull(value))
            iterations[number].map(argument, made);
      builder.clone(op, iterations[number]);
    }
  }
  return llvm::map_to_vector(loop.getYieldedValues(),
                             [&](Value value) { return iterations.back().lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// Sums over threads
//===----------------------------------------------------------------------===//

Value GroupEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, launch.getLoc(), value);
}

/// Memory of the block for `shape` elements.
Value GroupEmitter::shared(Type element, ArrayRef<int64_t> shape) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return launch.addWorkgroupAttribution(type, launch.getLoc());
}

static Value apply(OpBuilder &builder, Operation *combiner, Value left, Value right) {
  Operation *made = builder.clone(*combiner);
  made->setOperands({left, right});
  return made->getResult(0);
}

/// The sum over `width` neighbouring threads. In each step a thread adds the value of the thread
/// whose number differs in one bit, so that all threads get bitwise identical sums.
Value GroupEmitter::combineInWarp(Value value, Operation *combiner, int64_t width) {
  Location loc = launch.getLoc();
  for (int64_t bit = width / 2; bit > 0; bit /= 2) {
    auto other = gpu::ShuffleOp::create(builder, loc, value, bit, kWarp, gpu::ShuffleMode::XOR);
    value = apply(builder, combiner, value, other.getShuffleResult());
  }
  return value;
}

Value GroupEmitter::combineInBlock(Value value, Operation *combiner) {
  value = combineInWarp(value, combiner, kWarp);
  int64_t warps = lanes / kWarp;
  if (warps == 1)
    return value;
  Location loc = launch.getLoc();
  Value sums = shared(value.getType(), {warps});
  // All threads of a warp have the same and write the same.
  Value warp = arith::DivUIOp::create(builder, loc, lane, index(kWarp));
  memref::StoreOp::create(builder, loc, value, sums, warp);
  gpu::BarrierOp::create(builder, loc);
  Value mine = arith::RemUIOp::create(builder, loc, lane, index(warps));
  value = memref::LoadOp::create(builder, loc, sums, mine);
  return combineInWarp(value, combiner, warps);
}

/// The sum over the lanes of a column, from the first to the last.
Value GroupEmitter::combineInColumn(Value value, Operation *combiner) {
  Location loc = launch.getLoc();
  Value sums = shared(value.getType(), {lanes, kWarp});
  Value column = arith::RemUIOp::create(builder, loc, launch.getThreadIds().x, index(kWarp));
  memref::StoreOp::create(builder, loc, value, sums, ValueRange{lane, column});
  gpu::BarrierOp::create(builder, loc);
  Value sum = memref::LoadOp::create(builder, loc, sums, ValueRange{index(0), column});
  for (int64_t other = 1; other < lanes; ++other) {
    Value part = memref::LoadOp::create(builder, loc, sums, ValueRange{index(other), column});
    sum = apply(builder, combiner, sum, part);
  }
  return sum;
}

Value GroupEmitter::combine(Value value, Operation *combiner) {
  switch (threads) {
  case Threads::One:
    return value;
  case Threads::Warp:
    return combineInWarp(value, combiner, kWarp);
  case Threads::Block:
    return combineInBlock(value, combiner);
  case Threads::Column:
    return combineInColumn(value, combiner);
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void GroupEmitter::barrier() {
  Location loc = launch.getLoc();
  if (threads == Threads::Warp) {
    Value all = arith::ConstantIntOp::create(builder, loc, -1, 32);
    NVVM::SyncWarpOp::create(builder, loc, all);
  } else if (threads != Threads::One) {
    gpu::BarrierOp::create(builder, loc);
  }
  read.clear();
  written.clear();
}

/// Inserts a barrier where `op` accesses memory that other threads wrote, or writes memory that
/// others read.
void GroupEmitter::order(Operation &op) {
  llvm::DenseSet<Value> reads, writes;
  op.walk([&](Operation *nested) {
    if (auto load = dyn_cast<memref::LoadOp>(nested))
      reads.insert(memoryOf(load.getMemref()));
    else if (auto store = dyn_cast<memref::StoreOp>(nested))
      writes.insert(memoryOf(store.getMemref()));
  });
  auto meet = [](const llvm::DenseSet<Value> &left, const llvm::DenseSet<Value> &right) {
    return llvm::any_of(left, [&](Value value) { return right.contains(value); });
  };
  if (meet(reads, written) || meet(writes, written) || meet(writes, read))
    barrier();
  read.insert(reads.begin(), reads.end());
  written.insert(writes.begin(), writes.end());
}

void GroupEmitter::emitStore(Operation &store) {
  Location loc = store.getLoc();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, index(0));
  if (stores)
    isFirst = arith::AndIOp::create(builder, loc, isFirst, stores);
  auto guarded = scf::IfOp::create(builder, loc, isFirst);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  builder.clone(store, mapping);
}

/// The end of the thread's loop over chunks of `count` iterations of `loop`, from `lane` on in
/// steps of `lanes`. `rounds`: how many it has, if all threads have the same number, and counts
/// these.
Value GroupEmitter::endOf(scf::ForOp loop, int64_t count, std::optional<int64_t> rounds) {
  Location loc = loop.getLoc();
  Value end = rounds ? index(*rounds) : mapping.lookupOrDefault(loop.getUpperBound());
  if (count > 1 && !rounds)
    end = arith::DivUIOp::create(builder, loc, end, index(count));
  if (stores) // others run the iteration that this group would repeat
    end = arith::SelectOp::create(builder, loc, stores, end, index(0));
  return end;
}

/// Shares `loop`: each thread runs every `lanes`-th of its chunks of neighbours. Where all threads
/// have a few in a column, the loop counts them, so that LLVM knows their number and unrolls it:
/// the loads of a thread do not wait for each other then.
void GroupEmitter::emitLoop(scf::ForOp loop) {
  Location loc = loop.getLoc();
  int64_t count = neighboursOf(loop);
  std::optional<int64_t> extent = constantIterationsOf(loop), rounds;
  if (threads == Threads::Column && extent && *extent % (count * lanes) == 0)
    rounds = *extent / (count * lanes);
  Value end = endOf(loop, count, rounds);
  SmallVector<Operation *> combiners;
  SmallVector<Value> neutral;
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    combiners.push_back(combinerOf(loop, number));
    neutral.push_back(
        arith::ConstantOp::create(builder, loc, *arith::getNeutralElement(combiners.back())));
  }
  auto shared = scf::ForOp::create(builder, loc, rounds ? index(0) : lane, end,
                                   index(rounds ? 1 : lanes), neutral);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(shared.getBody());
    if (neutral.empty())
      builder.setInsertionPoint(shared.getBody()->getTerminator());
    Value chunk = shared.getInductionVar();
    if (rounds)
      chunk = arith::AddIOp::create(builder, loc,
                                    arith::MulIOp::create(builder, loc, chunk, index(lanes)), lane);
    SmallVector<Value> carried =
        cloneIterations(builder, loop, chunk, count, shared.getRegionIterArgs(), mapping);
    if (!neutral.empty())
      scf::YieldOp::create(builder, loc, carried);
  }
  for (auto [number, sum] : llvm::enumerate(shared.getResults())) {
    Value total = combine(sum, combiners[number]);
    Value start = mapping.lookupOrDefault(loop.getInitArgs()[number]);
    mapping.map(loop.getResult(number), apply(builder, combiners[number], start, total));
  }
}

void GroupEmitter::emit(Operation &op) {
  order(op);
  auto loop = dyn_cast<scf::ForOp>(op);
  if (loop && isShared(loop))
    emitLoop(loop);
  else if (isa<memref::StoreOp>(op))
    emitStore(op);
  else
    builder.clone(op, mapping);
}

} // namespace zero
