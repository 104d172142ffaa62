//===- BlockSums.cpp - add blocks of a long sum in floats -----------------===//
//
// A vector has half as many doubles as floats, and LLVM gives a whole loop the vectors of its
// widest type, functions of floats included. So only the sums of blocks are added in doubles.
// Products stay as they are: their errors add up, however they are grouped.
//
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/GpuLoops.h"
#include "zero/Codegen/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BLOCKSUMS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Terms of a block: 32 for each of 32 accumulators, which LLVM's vectors usually have.
static constexpr int64_t kBlock = 1024;
/// Fewer terms would not fill a vector.
static constexpr int64_t kWorthwhile = 16;

/// The float that `loop` extends and adds to the double `number` that it carries, or null.
static Value termOf(scf::ForOp loop, unsigned number) {
  Operation *combiner = combinerOf(loop, number);
  if (!isa_and_nonnull<arith::AddFOp>(combiner) || combiner->getBlock() != loop.getBody())
    return {};
  bool isLeft = combiner->getOperand(0) == loop.getRegionIterArg(number);
  auto extended = combiner->getOperand(isLeft ? 1 : 0).getDefiningOp<arith::ExtFOp>();
  return extended && extended.getIn().getType().isF32() ? extended.getIn() : Value();
}

namespace {
/// Rewrites one loop.
class Blocker {
public:
  Blocker(scf::ForOp loop, int64_t extent) : loop(loop), extent(extent), builder(loop) {
    for (unsigned number = 0; number < loop.getNumResults(); ++number)
      terms.push_back(termOf(loop, number));
  }

  bool isPossible() const {
    return llvm::any_of(terms, [](Value term) { return bool(term); });
  }
  void run();

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  SmallVector<Value> addBlock(Value begin, Value end, ValueRange sums);

  scf::ForOp loop;
  int64_t extent;
  OpBuilder builder;
  Location loc = loop.getLoc();
  SmallVector<Value> terms; ///< of each number that the loop carries: the float, if it is blocked
};
} // namespace

/// What `loop` carries behind the iterations from `begin` to `end`, and carried before as `sums`.
SmallVector<Value> Blocker::addBlock(Value begin, Value end, ValueRange sums) {
  SmallVector<Value> starts(sums);
  for (auto [number, term] : llvm::enumerate(terms))
    if (term)
      starts[number] = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  auto block = scf::ForOp::create(builder, loc, begin, end, index(1), starts);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block.getBody());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), block.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), block.getRegionIterArgs());
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> next;
    for (auto [number, value] : llvm::enumerate(loop.getYieldedValues())) {
      Operation *made = mapping.lookupOrDefault(value).getDefiningOp();
      if (terms[number]) {
        made->setOperands({block.getRegionIterArg(number), mapping.lookupOrDefault(terms[number])});
        made->getResult(0).setType(builder.getF32Type());
      }
      next.push_back(mapping.lookupOrDefault(value));
    }
    scf::YieldOp::create(builder, loc, next);
  }
  SmallVector<Value> results(block.getResults());
  for (auto [number, term] : llvm::enumerate(terms))
    if (term) {
      Value wide = arith::ExtFOp::create(builder, loc, builder.getF64Type(), results[number]);
      Operation *added = builder.clone(*combinerOf(loop, number));
      added->setOperands({sums[number], wide});
      results[number] = added->getResult(0);
    }
  return results;
}

void Blocker::run() {
  if (extent <= kBlock) {
    loop.replaceAllUsesWith(addBlock(index(0), index(extent), loop.getInitArgs()));
  } else {
    auto blocks = scf::ForOp::create(builder, loc, index(0), index(extent), index(kBlock),
                                     loop.getInitArgs());
    loop.replaceAllUsesWith(blocks.getResults());
    builder.setInsertionPointToEnd(blocks.getBody());
    Value end = arith::AddIOp::create(builder, loc, blocks.getInductionVar(), index(kBlock));
    if (extent % kBlock != 0)
      end = arith::MinUIOp::create(builder, loc, end, index(extent));
    scf::YieldOp::create(builder, loc,
                         addBlock(blocks.getInductionVar(), end, blocks.getRegionIterArgs()));
  }
  loop.erase();
}

namespace {
struct BlockSums : zero::impl::BlockSumsBase<BlockSums> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    bool forGpu = kernel->getParentOp()->hasAttr(kDeviceAttr) && !isHostKernel(kernel);
    if (!isNativeKernel(kernel) || kernel.isDeclaration() || forGpu)
      return;
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      std::optional<int64_t> extent = constantIterationsOf(loop);
      if (!extent || *extent < kWorthwhile || !loop.getBody()->getOps<scf::ForOp>().empty())
        continue;
      if (Blocker blocker(loop, *extent); blocker.isPossible())
        blocker.run();
    }
  }
};
} // namespace
