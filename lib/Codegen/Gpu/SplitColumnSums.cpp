//===- SplitColumnSums.cpp - divide sums across rows among blocks ---------===//
//
// A block has 32 columns of memory, so a matrix of few columns and many rows would keep few blocks
// busy. Long sums across rows become two: blocks sum chunks of rows first, then the sums of the
// chunks are added in order. The chunks depend on the number of rows only, and so does the result.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SPLITCOLUMNSUMS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Rows of a chunk: 16 for each of the 16 threads that share a column. 8192 rows of 1600 columns
/// make 1,600 blocks, three times as many as an H100 runs at once.
static constexpr int64_t kRows = 256;

namespace {
/// Splits one sum of one loop over columns.
class Splitter {
public:
  Splitter(scf::ForOp columns, scf::ForOp sum)
      : columns(columns), sum(sum), rows(*constantIterationsOf(sum)),
        chunks(llvm::divideCeil(rows, kRows)), builder(columns), loc(sum.getLoc()) {}

  bool isPossible();
  void run();

private:
  bool needs();
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value neutral(unsigned number);
  void sumChunks(ArrayRef<Value> partials);
  SmallVector<Value> sumRows(Value chunk, IRMapping &mapping);
  void addChunks(ArrayRef<Value> partials);

  scf::ForOp columns, sum;
  int64_t rows, chunks;
  OpBuilder builder;
  Location loc;
  llvm::SetVector<Operation *> needed; ///< operations of a column that its sum depends on
};
} // namespace

/// Adds the memory that `op` accesses to `read` and `written`; false if its effects are not known.
static bool addAccesses(Operation *op, DenseSet<Value> &read, DenseSet<Value> &written) {
  return !op->walk([&](Operation *nested) {
              if (auto load = dyn_cast<memref::LoadOp>(nested))
                read.insert(memoryOf(load.getMemref()));
              else if (auto store = dyn_cast<memref::StoreOp>(nested))
                written.insert(memoryOf(store.getMemref()));
              else if (!isMemoryEffectFree(nested) && !isa<scf::ForOp, scf::IfOp>(nested))
                return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

/// Lists the operations of the column that the sum depends on. Other blocks compute them, too, so
/// none of their loops may be long.
bool Splitter::needs() {
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *op) { return columns->isProperAncestor(op); };
  llvm::SetVector<Operation *> slice;
  if (failed(getBackwardSlice(sum.getOperation(), &slice, options)))
    return false;
  for (Operation &op : columns.getBody()->without_terminator()) {
    if (!slice.contains(&op))
      continue;
    needed.insert(&op);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      if (!constantIterationsOf(loop) || *constantIterationsOf(loop) > chunks)
        return false;
  }
  return true;
}

/// Whether all chunks may be summed before the first column is complete.
bool Splitter::isPossible() {
  for (unsigned number = 0; number < sum.getNumResults(); ++number) {
    Operation *combiner = combinerOf(sum, number);
    if (!mayCombine(sum, number) || combiner->getBlock() != sum.getBody())
      return false;
  }
  if (sum.getNumResults() == 0 || !needs())
    return false;
  DenseSet<Value> read, written, before, ignored;
  for (Operation *op : needed)
    if (!addAccesses(op, read, written))
      return false;
  if (!addAccesses(sum, read, written) || !written.empty())
    return false;
  for (Operation *op = sum->getPrevNode(); op; op = op->getPrevNode())
    if (!addAccesses(op, ignored, before))
      return false;
  return llvm::none_of(before, [&](Value memory) { return read.contains(memory); });
}

Value Splitter::neutral(unsigned number) {
  return arith::ConstantOp::create(builder, loc,
                                   *arith::getNeutralElement(combinerOf(sum, number)));
}

/// The sums of the rows of `chunk`. The last chunk may have fewer: its threads read the last row
/// again and add nothing.
SmallVector<Value> Splitter::sumRows(Value chunk, IRMapping &mapping) {
  SmallVector<Value> starts;
  for (unsigned number = 0; number < sum.getNumResults(); ++number)
    starts.push_back(neutral(number));
  Value begin = arith::MulIOp::create(builder, loc, chunk, index(kRows));
  auto loop = scf::ForOp::create(builder, loc, index(0), index(kRows), index(1), starts);
  loop->setAttr(kLoopAttr, builder.getStringAttr(kSumLoop));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value row = arith::AddIOp::create(builder, loc, begin, loop.getInductionVar()), exists;
  if (rows % kRows != 0) {
    exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row, index(rows));
    row = arith::MinUIOp::create(builder, loc, row, index(rows - 1));
  }
  IRMapping inside = mapping;
  inside.map(sum.getInductionVar(), row);
  inside.map(sum.getRegionIterArgs(), loop.getRegionIterArgs());
  for (Operation &op : *sum.getBody())
    builder.clone(op, inside);
  for (unsigned number = 0; exists && number < sum.getNumResults(); ++number) {
    Operation *combiner = inside.lookup(combinerOf(sum, number));
    builder.setInsertionPoint(combiner);
    bool isLeft = combiner->getOperand(0) == loop.getRegionIterArg(number);
    OpOperand &added = combiner->getOpOperand(isLeft ? 1 : 0);
    added.set(arith::SelectOp::create(builder, loc, exists, added.get(), starts[number]));
  }
  return loop.getResults();
}

/// Writes the loop over all chunks of all columns, which fills `partials`.
void Splitter::sumChunks(ArrayRef<Value> partials) {
  int64_t width = *constantIterationsOf(columns);
  auto loop = scf::ForOp::create(builder, loc, index(0), index(chunks * width), index(1));
  loop->setAttr(kLoopAttr, builder.getStringAttr(kParallelLoop));
  loop->setAttr(kThreadsOfLoopAttr, builder.getStringAttr(threadsName(Threads::Column)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto digits = affine::AffineDelinearizeIndexOp::create(builder, loc, loop.getInductionVar(),
                                                         ArrayRef<int64_t>{chunks, width});
  IRMapping mapping;
  mapping.map(columns.getInductionVar(), digits.getResult(1));
  for (Operation *op : needed)
    builder.clone(*op, mapping);
  for (auto [partial, made] : llvm::zip(partials, sumRows(digits.getResult(0), mapping)))
    memref::StoreOp::create(builder, loc, made, partial, digits.getResults());
}

/// Replaces the sum by one over `partials`.
void Splitter::addChunks(ArrayRef<Value> partials) {
  builder.setInsertionPoint(sum);
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(chunks), index(1), sum.getInitArgs());
  loop->setAttr(kLoopAttr, builder.getStringAttr(kSumLoop));
  builder.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> added;
  for (auto [number, partial] : llvm::enumerate(partials)) {
    Value part = memref::LoadOp::create(
        builder, loc, partial, ValueRange{loop.getInductionVar(), columns.getInductionVar()});
    Operation *combiner = builder.clone(*combinerOf(sum, number));
    combiner->setOperands({loop.getRegionIterArg(number), part});
    added.push_back(combiner->getResult(0));
  }
  scf::YieldOp::create(builder, loc, added);
  sum.replaceAllUsesWith(loop);
  sum.erase();
}

void Splitter::run() {
  int64_t width = *constantIterationsOf(columns);
  SmallVector<Value> partials;
  for (Type type : sum.getResultTypes())
    partials.push_back(
        memref::AllocOp::create(builder, loc, MemRefType::get({chunks, width}, type)));
  sumChunks(partials);
  addChunks(partials);
}

namespace {
struct SplitColumnSums : zero::impl::SplitColumnSumsBase<SplitColumnSums> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isNativeKernel(kernel) || kernel.isDeclaration() || isHostKernel(kernel))
      return;
    for (auto loop : llvm::to_vector(kernel.getOps<scf::ForOp>())) {
      auto threads = loop->getAttrOfType<StringAttr>(kThreadsOfLoopAttr);
      if (threads && threads.getValue() == threadsName(Threads::Column) &&
          constantIterationsOf(loop))
        splitSums(loop);
    }
  }

  void splitSums(scf::ForOp columns) {
    for (auto sum : llvm::to_vector(columns.getBody()->getOps<scf::ForOp>())) {
      std::optional<int64_t> rows = constantIterationsOf(sum);
      if (!isMarked(sum, kSumLoop) || !rows || *rows < 2 * kRows)
        continue;
      if (Splitter splitter(columns, sum); splitter.isPossible())
        splitter.run();
    }
  }
};
} // namespace
